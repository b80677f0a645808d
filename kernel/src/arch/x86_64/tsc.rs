//! The clock: the time-stamp counter.

use core::arch::asm;

/// Ticks of the time-stamp counter since the machine's reset.
///
/// Not read before what precedes it in program order (`lfence`), which the ledger's ordering argument needs: a writer
/// reads the clock inside its window.
#[inline(always)]
pub(crate) fn clock() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: only reads. The memory clobber keeps the compiler from moving accesses across, as the fence does the CPU.
    unsafe { asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
    high << 32 | low
}

/// The same, and read before what follows it in program order: for readers of a ledger that another CPU writes.
#[inline(always)]
pub(crate) fn clock_fenced() -> u64 {
    let now = clock();
    // SAFETY: only orders.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
    now
}
