//! Becoming runnable: where an LWP waits for a CPU, and who is told.

use super::timer::start_slice;
use super::{Dispatcher, IDLE, priority_on};
use crate::arch::clock;
use crate::cpu::{self, Cpu, Here};
use crate::debug::perturb;
use crate::proc::Lwp;
use crate::sync::Guard;
use crate::time;
use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use kcore::acct::OffCpu;
use kcore::sched::balance::{CpuSet, place_woken};
use kcore::sched::place::{self, Place, Wake};

/// A new LWP's life begins, as runnable: it is queued for the first time.
pub(crate) fn start(lwp: &'static Lwp) {
    let (_, of_last) = lock_of(lwp); // wakes of the slot's last LWP may still come
    lwp.cpu.store(Here::get().number(), Release);
    lwp.cpu.store(choose_for(lwp), Release);
    drop(of_last);
    let (cpu, mut dispatcher) = lock_allowed(lwp);
    dispatcher.more_load(lwp, || lwp.ledger.begin(lwp.tid(), OffCpu::Runnable, clock));
    enqueue(cpu, dispatcher, lwp);
}

/// Ends the wait of an LWP, from anywhere; nothing happens where it has ended or is queued already.
pub(crate) fn wake(lwp: &'static Lwp) {
    let (cpu, mut dispatcher) = lock_of(lwp);
    match lwp.wake() {
        Wake::Queue => {
            let now = dispatcher.more_load(lwp, || lwp.ledger.wake(clock));
            let slept = now - lwp.asleep_since.get();
            lwp.slept(slept, time::slice_ticks());
            let target = choose_for(lwp);
            if target == cpu.number() {
                enqueue(cpu, dispatcher, lwp);
            } else {
                queue_on(target, dispatcher, lwp);
            }
        }
        Wake::Keep | Wake::Nothing => {}
    }
}

/// The lock that guards the place of `lwp`, and whose it is.
#[inline(always)]
pub(super) fn lock_of(lwp: &Lwp) -> (&'static Cpu, Guard<'static, Dispatcher>) {
    place::lock_of(&lwp.cpu, |number| {
        let cpu = cpu::get(number).expect("an LWP's CPU is up");
        (cpu, cpu.dispatcher.lock())
    })
}

/// Where an LWP that becomes runnable waits. An idle CPU that is chosen is nobody else's choice any more.
#[inline(always)]
pub(super) fn choose_for(lwp: &Lwp) -> u32 {
    let last = lwp.cpu.load(Acquire);
    let (allowed, idle) = (lwp.allowed(), CpuSet(IDLE.load(SeqCst)));
    let target = perturb::place(place_woken(last, allowed, idle, lwp.priority(), priority_on), allowed);
    if idle.has(target) {
        IDLE.fetch_and(!(1 << target), SeqCst);
    }
    target
}

/// An LWP that was just taken out of this dispatcher's queue waits where it may run.
pub(super) fn requeue(dispatcher: Guard<'_, Dispatcher>, lwp: &'static Lwp) {
    queue_on(choose_for(lwp), dispatcher, lwp);
}

/// An LWP in no queue, whose place this dispatcher's lock guards, waits on `target` from now on.
fn queue_on(target: u32, dispatcher: Guard<'_, Dispatcher>, lwp: &'static Lwp) {
    lwp.cpu.store(target, Release);
    drop(dispatcher);
    enqueue_moved(lwp);
}

/// Queues an LWP whose `cpu` has changed and whose stack nobody uses; elsewhere where it may not run there any more.
pub(super) fn enqueue_moved(lwp: &'static Lwp) {
    Here::get().counters.migrations.add();
    let (cpu, dispatcher) = lock_allowed(lwp);
    enqueue(cpu, dispatcher, lwp);
}

/// The dispatcher of the LWP's CPU, locked, of another CPU if the LWP may not run there any more: it is about to be queued.
fn lock_allowed(lwp: &Lwp) -> (&'static Cpu, Guard<'static, Dispatcher>) {
    loop {
        let (cpu, dispatcher) = lock_of(lwp);
        if lwp.allowed().has(cpu.number()) {
            lwp.set_place(Place::Queued);
            return (cpu, dispatcher);
        }
        lwp.cpu.store(choose_for(lwp), Release); // under this lock: a waker may be waiting for it
    }
}

/// Queues an LWP on the CPU whose lock is held, and has that CPU know, and an idle one if there is any.
pub(super) fn enqueue(cpu: &'static Cpu, mut dispatcher: Guard<'_, Dispatcher>, lwp: &'static Lwp) {
    dispatcher.push(cpu, lwp);
    let is_first = dispatcher.queue.len() == 1;
    let is_busy = cpu.busy.load(SeqCst);
    let goes_first = is_busy && lwp.priority().number() > cpu.priority.load(SeqCst);
    drop(dispatcher);
    let here = Here::get();
    if goes_first {
        end_slice_of(cpu);
    } else if cpu.number() != here.number() {
        if is_first || !is_busy {
            cpu.kick();
        }
    } else if here.current.get().is_some() {
        start_slice(here);
    }
    if is_busy {
        offer_to_idle(lwp);
    }
}

/// The LWP that runs on a CPU is to look whether it goes on.
pub(super) fn end_slice_of(cpu: &Cpu) {
    cpu.slice_over.store(true, SeqCst);
    cpu.ask_for_attention();
}

/// Has an idle CPU look for work, if there is one that may take this LWP.
pub(super) fn offer_to_idle(lwp: &Lwp) {
    if let Some(cpu) = idle_for(lwp).and_then(cpu::get) {
        IDLE.fetch_and(!(1 << cpu.number()), SeqCst);
        cpu.kick();
    }
}

/// An idle CPU that an LWP may use.
#[inline(always)]
pub(super) fn idle_for(lwp: &Lwp) -> Option<u32> {
    let idle = CpuSet(IDLE.load(SeqCst));
    if idle.is_empty() { None } else { idle.and(lwp.allowed()).lowest() }
}

/// Another CPU wants this one to look: at its queue, if an LWP runs that did not know of others.
pub(crate) fn kicked(here: Here) {
    if here.current.get().is_some() && here.waiting.load(SeqCst) > 0 {
        start_slice(here);
    }
}

/// Has an LWP that was killed notice: ends its wait, or has its CPU look before the next return to user mode.
pub(crate) fn notice(lwp: &'static Lwp) {
    wake(lwp);
    if let Some(cpu) = cpu::get(lwp.cpu.load(Acquire)) {
        cpu.ask_for_attention();
    }
}
