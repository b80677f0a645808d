//! Which CPUs an LWP may use.

use super::dispatch::{choose_for, enqueue_on, lock_of, pause_long_call};
use crate::cpu::Here;
use crate::proc::Lwp;
use core::sync::atomic::Ordering::Release;
use kcore::sched::balance::CpuSet;
use kcore::sched::place::Place;

/// Lets an LWP use the CPUs of `allowed` only, of which one at least is up. On return it does not run elsewhere: one
/// that waits in a wrong queue is moved, one that runs on a wrong CPU has left it, and the caller itself leaves on its
/// way back to user mode.
pub(crate) fn set_allowed(lwp: &'static Lwp, allowed: CpuSet) {
    let tid = lwp.tid();
    lwp.set_allowed(allowed);
    loop {
        let (cpu, mut dispatcher) = lock_of(lwp);
        let number = cpu.number();
        if allowed.has(number) || lwp.tid() != tid {
            return;
        }
        match lwp.place() {
            Place::Queued if dispatcher.remove(cpu, lwp) => {
                let target = choose_for(lwp);
                lwp.cpu.store(target, Release);
                drop(dispatcher);
                return enqueue_on(target, lwp);
            }
            Place::Running if core::ptr::eq(lwp, Here::get().lwp()) => {
                drop(dispatcher);
                return Here::get().ask_for_attention();
            }
            // On its way to or from that CPU: it will see what it may use, and leave. The caller does meanwhile what it
            // is asked itself: two that move each other would else wait for each other.
            Place::Running | Place::Queued => {
                drop(dispatcher);
                cpu.ask_for_attention();
                pause_long_call();
                core::hint::spin_loop();
            }
            Place::Blocked | Place::Nowhere => return,
        }
    }
}
