//! What the programs share: work of known kinds, and how a time is written.
#![no_std]

extern crate std;

pub mod futex;
pub mod model;
pub mod usage;

use core::hint::black_box;
use core::time::Duration;
use userlib::{Errno, raw};

/// Keeps the CPU in user mode for about a millisecond.
pub fn compute() {
    for value in 0..250_000_u64 {
        black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
}

/// Keeps the CPU in the kernel, for a time that goes with the buffer's length: fills it with random bytes in one call.
pub fn enter_kernel(buffer: &mut [u8]) {
    let (place, length) = (buffer.as_mut_ptr().expose_provenance() as u64, buffer.len() as u64);
    // SAFETY: the buffer is as long as said, and nobody else's.
    let got = unsafe { raw::getrandom(place, length, 0) };
    assert_eq!(got, length, "getrandom");
}

/// Lets the caller run on this CPU, below 64, only.
///
/// # Errors
/// EINVAL: there is none.
pub fn pin(cpu: u32) -> Result<(), Errno> {
    let mask = 1_u64 << cpu;
    // SAFETY: the mask is this function's.
    let result = unsafe { raw::sched_setaffinity(0, 8, (&raw const mask).expose_provenance() as u64) };
    Errno::from_return(result).map(drop)
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
