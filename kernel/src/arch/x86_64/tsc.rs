//! The clock: the time-stamp counter.

use core::arch::x86_64::{_mm_lfence, _rdtsc};

/// Ticks of the time-stamp counter since the machine's reset.
///
/// Not read before what precedes it in program order (`lfence`), which the ledger's ordering argument needs: a writer
/// reads the clock inside its window.
#[inline(always)]
pub(crate) fn clock() -> u64 {
    // SAFETY: both instructions only read; every x86-64 CPU has them, user mode or not.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// The same, and read before what follows it in program order: for readers of a ledger that another CPU writes.
#[inline(always)]
pub(crate) fn clock_fenced() -> u64 {
    let now = clock();
    // SAFETY: the instruction only orders.
    unsafe { _mm_lfence() };
    now
}
