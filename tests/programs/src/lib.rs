//! What the programs share: work of known kinds, and how a time is written.
#![no_std]

use core::hint::black_box;
use core::time::Duration;

/// Keeps the CPU in user mode for about a tenth of a millisecond.
pub fn compute() {
    for value in 0..25_000_u64 {
        black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
}

/// Keeps the CPU in the kernel for about as long: many random bytes in one call.
pub fn enter_kernel() {
    let mut bytes = [0_u8; 16_384];
    // SAFETY: the buffer is this function's own and as long as said.
    let got = unsafe {
        userlib::raw::getrandom(bytes.as_mut_ptr().expose_provenance() as u64, bytes.len() as u64, 0)
    };
    assert_eq!(got, bytes.len() as u64, "getrandom");
    black_box(&bytes);
}

/// The time since boot.
#[must_use]
pub fn now() -> Duration {
    userlib::clock::now(userlib::clock::Clock::MONOTONIC).expect("a kernel has CLOCK_MONOTONIC")
}

/// Milliseconds, with the rest.
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}
