//! Waiting for an interrupt, without sleeping through one.
//!
//! **Problem.** With interrupts off, the idle loop has looked for work for the last time. An interrupt that brings some from now
//! on must end the sleep, and so must not be over before it begins. `sti` takes effect after the next instruction, so one that
//! is pending comes in the `hlt`; but a non-maskable interrupt between the two ends this grace, and when it returns, what is
//! pending comes before the `hlt`. **Answer.** An interrupt that would return to the `hlt` returns behind it: the idle loop
//! looks again.

use super::frame::Frame;
use core::arch::global_asm;

global_asm!(
    ".global wait_for_interrupt",
    "wait_for_interrupt:",
    "sti",
    ".global halt_of_wait",
    "halt_of_wait:",
    "hlt",
    ".global after_halt_of_wait",
    "after_halt_of_wait:",
    "cli",
    "ret",
);

unsafe extern "sysv64" {
    #[link_name = "wait_for_interrupt"]
    fn wait_for_interrupt_asm();
    static halt_of_wait: u8;
    static after_halt_of_wait: u8;
}

/// Waits for an interrupt with interrupts on, and returns with them off.
pub(crate) fn wait_for_interrupt() {
    // SAFETY: the idle loop holds no lock; handlers run on this stack and return.
    unsafe { wait_for_interrupt_asm() };
}

/// Has an interrupt that was faster than the sleep end it.
pub(super) fn skip(frame: &mut Frame) {
    if frame.rip == (&raw const halt_of_wait).addr() as u64 {
        frame.rip = (&raw const after_halt_of_wait).addr() as u64;
    }
}
