//! Work of known length.

use std::arch::asm;

/// Whether time is virtual, one instruction a nanosecond, so that figures can be exact.
#[must_use]
pub fn on_icount() -> bool {
    std::env::var_os("TALLY_ICOUNT").is_some()
}

/// Whether the machine is there for nothing else, and storms are to take their full length.
#[must_use]
pub fn at_full_length() -> bool {
    std::env::var_os("TALLY_LONG").is_some()
}

/// Executes `rounds` times two instructions in user mode, without touching memory.
pub fn user_loop(rounds: u64) {
    // SAFETY: counts a register down.
    unsafe { asm!("2:", "dec {left}", "jnz 2b", left = inout(reg) rounds => _, options(nostack, nomem)) };
}

/// Executes `rounds` times four instructions, one of which is a system call that does nothing (`getppid`).
pub fn call_loop(rounds: u64) {
    // SAFETY: the call has no arguments; the kernel keeps all registers but the three named.
    unsafe {
        asm!("2:", "mov eax, 110", "syscall", "dec {left}", "jnz 2b", left = inout(reg) rounds => _,
            out("rax") _, out("rcx") _, out("r11") _, options(nostack));
    }
}

/// Executes four instructions a page, one of which writes to the page.
///
/// # Safety
/// As many pages from `start` on may be written, and hold nothing.
pub unsafe fn touch_loop(start: u64, pages: u64) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!("2:", "mov byte ptr [{page}], 1", "add {page}, 4096", "dec {left}", "jnz 2b",
            page = inout(reg) start => _, left = inout(reg) pages => _, options(nostack));
    }
}
