//! Leaving CPUs that are not allowed: an LWP whose CPUs have changed, and all LWPs of a CPU that has changed sets.

use super::dispatch::pause_long_call;
use super::ready::{lock_of, offer_to_idle, requeue};
use crate::cpu::{Cpu, Here};
use crate::proc::Lwp;
use kcore::sched::place::Place;

/// Whether an LWP runs or waits where it may not.
pub(crate) fn is_on_wrong_cpu(lwp: &'static Lwp) -> bool {
    let (cpu, _dispatcher) = lock_of(lwp);
    matches!(lwp.place(), Place::Running | Place::Queued) && !lwp.allowed().has(cpu.number())
}

/// After the CPUs that an LWP may use have become more: one that waits is offered to those that idle.
pub(crate) fn offer(lwp: &'static Lwp) {
    let waits = {
        let _dispatcher = lock_of(lwp);
        lwp.place() == Place::Queued
    };
    if waits {
        offer_to_idle(lwp);
    }
}

/// After the CPUs that an LWP may use have changed: on return it does not run elsewhere. One that waits in a wrong queue is
/// moved, one that runs on a wrong CPU has left it, and the caller itself leaves on its way back to user mode. The caller
/// holds no lock.
pub(crate) fn leave_wrong_cpu(lwp: &'static Lwp, tid: u32) {
    loop {
        let (cpu, mut dispatcher) = lock_of(lwp);
        if lwp.allowed().has(cpu.number()) || lwp.tid() != tid {
            return;
        }
        match lwp.place() {
            Place::Queued if dispatcher.remove(cpu, lwp) => return requeue(dispatcher, lwp),
            Place::Running if core::ptr::eq(lwp, Here::get().lwp()) => {
                drop(dispatcher);
                return Here::get().ask_for_attention();
            }
            Place::Running | Place::Queued => {
                drop(dispatcher);
                wait_a_little(cpu);
            }
            Place::Blocked | Place::Nowhere => return,
        }
    }
}

/// After a CPU has changed sets: on return no LWP runs or waits there that may not, but for the caller, who leaves on its
/// way back to user mode. The caller holds no lock.
pub(crate) fn clear_cpu(cpu: &'static Cpu) {
    loop {
        let mut dispatcher = cpu.dispatcher.lock();
        if let Some(lwp) = dispatcher.take_unfit(cpu) {
            requeue(dispatcher, lwp);
            continue;
        }
        // The lock is held across every change of `current`.
        let is_clear = cpu.current.get().is_none_or(|lwp| lwp.allowed().has(cpu.number()));
        let is_caller = cpu.current.get().is_some_and(|lwp| core::ptr::eq(lwp, Here::get().lwp()));
        drop(dispatcher);
        if is_clear || is_caller {
            return cpu.ask_for_attention(); // an idle CPU looks for work in its new set
        }
        wait_a_little(cpu);
    }
}

/// An LWP is on its way to or from `cpu`: it will see what it may use, and leave. The caller does meanwhile what it is asked
/// itself: two that move each other would else wait for each other.
fn wait_a_little(cpu: &Cpu) {
    cpu.ask_for_attention();
    pause_long_call();
    core::hint::spin_loop();
}
