//! Work of known length.

use std::arch::asm;

/// Whether time is virtual, one instruction a nanosecond, so that figures can be exact.
#[must_use]
pub fn on_icount() -> bool {
    std::env::var_os("TALLY_ICOUNT").is_some()
}

/// Executes `rounds` times two instructions in user mode, without touching memory.
pub fn user_loop(rounds: u64) {
    // SAFETY: counts a register down.
    unsafe { asm!("2:", "dec {left}", "jnz 2b", left = inout(reg) rounds => _, options(nostack, nomem)) };
}
