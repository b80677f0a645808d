//! What a CPU does when it has no LWP.

use super::IDLE;
use super::dispatch::leave_idle;
use super::timer::arm;
use crate::arch;
use crate::cpu::Here;
use crate::debug::stretch;
use crate::mm::stack_depth;
use crate::mm::stacks::KernelStack;
use core::sync::atomic::Ordering::SeqCst;

/// Dispatches whatever becomes runnable, and sleeps in between without a tick. It announces that it is idle before it
/// looks for the last time, and no interrupt can come between that look and the sleep, since interrupts are off until it
/// begins: an LWP that becomes runnable is seen, or its kick ends the sleep.
pub(crate) extern "sysv64" fn idle_for_ever() -> ! {
    let here = Here::get(); // the idle loop never leaves its CPU
    let own = 1 << here.number();
    arm(here);
    stretch::start();
    loop {
        while leave_idle() {}
        stack_depth::check_own();
        IDLE.fetch_or(own, SeqCst);
        if !leave_idle() {
            stretch::idle(arch::wait_for_interrupt);
        }
        IDLE.fetch_and(!own, SeqCst);
    }
}

/// The same for the boot CPU, which leaves its first stack for one with a hole below it.
pub(crate) fn idle_on_own_stack() -> ! {
    let stack = KernelStack::new().expect("boot has memory for a stack");
    // SAFETY: the stack is new; boot has nothing left to do on its first one.
    unsafe { arch::go_on_with_stack(stack.keep(), idle_for_ever) }
}
