//! Giving way and going on.

use super::timer::{renew_slice, start_slice, start_slice_at};
use super::{Dispatcher, IDLE, load_of, priority_on, waiting_on};
use crate::arch::{Frame, clock};
use crate::cpu::{self, Cpu, Here};
use crate::debug::perturb::{self, Point};
use crate::debug::stretch;
use crate::proc::{self, Lwp};
use crate::sync::{Guard, Rank};
use crate::time;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use kcore::acct::{self, OffCpu};
use kcore::sched::AfterSlice;
use kcore::sched::balance::{CpuSet, place_after_slice, place_woken, victim};
use kcore::sched::place::{self, Block, Place, Wake};

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
                lwp.cpu.store(target, Release);
                drop(dispatcher);
                enqueue_moved(lwp);
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
    let target = choose_for(lwp);
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
        cpu.slice_over.store(true, SeqCst);
        cpu.ask_for_attention();
    } else if cpu.number() != here.number() {
        if is_first || !is_busy {
            cpu.kick();
        }
    } else if here.current.get().is_some() {
        start_slice(here);
    }
    if is_busy {
        offer_to_idle(lwp.allowed());
    }
}

/// Has an idle CPU look for work, if there is one that may take it.
fn offer_to_idle(allowed: CpuSet) {
    let idle = CpuSet(IDLE.load(SeqCst)).and(allowed).lowest();
    if let Some(cpu) = idle.and_then(cpu::get) {
        IDLE.fetch_and(!(1 << cpu.number()), SeqCst);
        cpu.kick();
    }
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

/// Gives way to the LWPs that wait here, and goes on after them.
pub(crate) fn yield_now() {
    let here = Here::get();
    let lwp = here.lwp();
    let mut dispatcher = here.cpu().dispatcher.lock();
    let Some(next) = dispatcher.exchange(lwp) else { return };
    lwp.voluntary.fetch_add(1, Relaxed);
    lwp.set_place(Place::Queued);
    switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), Some(next));
}

/// Leaves this CPU to whoever waits, or to idleness, and goes on on CPU `target`.
fn move_to(here: Here, mut dispatcher: Guard<'static, Dispatcher>, target: u32) {
    let lwp = here.lwp();
    lwp.set_place(Place::Queued);
    here.moving.set(Some((lwp, target)));
    let next = dispatcher.pop(&here);
    switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), next);
}

/// The running LWP's slice is over: it has another if nobody of its priority waits.
fn end_slice(here: Here) {
    let lwp = here.lwp();
    let mut dispatcher = here.cpu().dispatcher.lock();
    if here.waiting.load(SeqCst) == 0 {
        return;
    }
    // What it ran counts now: with all its credit it would stay before the others for ever.
    let now = clock();
    lwp.ran(now - here.dispatched_at.replace(now), time::slice_ticks());
    match dispatcher.after_slice(lwp.priority(), now) {
        AfterSlice::Stay => {
            here.priority.store(lwp.priority().number(), SeqCst);
            drop(dispatcher);
            renew_slice(here);
        }
        AfterSlice::Rotate => go_behind(here, dispatcher),
        AfterSlice::Turn(slot) => give_turn(here, dispatcher, proc::table::lwp(slot)),
    }
}

/// The running LWP gives way to one of lower priority, whose turn it is.
fn give_turn(here: Here, mut dispatcher: Guard<'static, Dispatcher>, next: &'static Lwp) {
    let lwp = here.lwp();
    dispatcher.remove(&here, next);
    dispatcher.push(&here, lwp);
    next.give_turn();
    lwp.involuntary.fetch_add(1, Relaxed);
    here.counters.involuntary.add();
    lwp.set_place(Place::Queued);
    switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), Some(next));
}

/// The running LWP waits where the queue is shortest.
fn go_behind(here: Here, mut dispatcher: Guard<'static, Dispatcher>) {
    let lwp = here.lwp();
    lwp.involuntary.fetch_add(1, Relaxed);
    here.counters.involuntary.add();
    let own = here.number();
    let load = |cpu| load_of(cpu) - u32::from(cpu == own);
    let target = place_after_slice(own, lwp.allowed(), load);
    if target != own {
        return move_to(here, dispatcher, target);
    }
    if let Some(next) = dispatcher.exchange(lwp) {
        lwp.set_place(Place::Queued);
        switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), Some(next));
    }
}

/// Waits to be woken. The caller has made itself known to its waker before, and looks again at what it waits for. An LWP
/// whose process is to stop is stopped while it waits.
pub(crate) fn block() {
    let here = Here::get();
    let lwp = here.lwp();
    if lwp.is_to_stop() {
        proc::stop::note(lwp);
    }
    let mut dispatcher = here.cpu().dispatcher.lock();
    if lwp.block() == Block::Return {
        return;
    }
    lwp.voluntary.fetch_add(1, Relaxed);
    let next = dispatcher.pop(&here);
    let state = if lwp.is_to_stop() { OffCpu::Stopped } else { OffCpu::Sleeping };
    match next {
        // Apart, so that the way to another LWP does not ask at each step whether there is one.
        Some(_) => switch(here, dispatcher, Some((lwp, state)), next),
        None => switch(here, dispatcher, Some((lwp, state)), None),
    }
}

/// Ends the running LWP: the next context on this CPU reclaims it.
pub(crate) fn end_current() -> ! {
    let here = Here::get();
    let lwp = here.lwp();
    let mut dispatcher = here.cpu().dispatcher.lock();
    lwp.set_place(Place::Nowhere);
    super::partition::leave(lwp);
    here.ended.set(Some(lwp));
    let next = dispatcher.pop(&here);
    switch(here, dispatcher, Some((lwp, OffCpu::Ended)), next);
    unreachable!("an LWP that has ended is never switched to")
}

/// The idle loop's part: goes to an LWP that waits, here or elsewhere, and returns when this CPU is idle again; false
/// where none was found.
pub(super) fn leave_idle() -> bool {
    let here = Here::get();
    let taken = if here.waiting.load(SeqCst) == 0 { take_from_others(here) } else { None };
    let mut dispatcher = here.cpu().dispatcher.lock();
    let next = taken.or_else(|| dispatcher.pop(&here));
    if next.is_some() {
        switch(here, dispatcher, None, next);
    }
    next.is_some()
}

/// An LWP that waits on another CPU and may run here; from the longest queue that has one.
fn take_from_others(here: Here) -> Option<&'static Lwp> {
    let own = here.number();
    let mut candidates = here.cpu().dispatcher.lock().partition.cpus();
    loop {
        let number = victim(own, candidates, waiting_on)?;
        let from = cpu::get(number)?;
        let mut dispatcher = from.dispatcher.lock();
        if let Some(lwp) = dispatcher.take_for(from, own) {
            lwp.cpu.store(own, Release);
            here.counters.migrations.add();
            return Some(lwp);
        }
        candidates = candidates.without(number);
    }
}

/// The one place where contexts change; None is the idle loop. Everything between the two LWPs is booked at one stamp.
/// Part of each caller, which knows who comes or how the one who leaves goes on.
#[inline(always)]
fn switch(
    here: Here,
    mut dispatcher: Guard<'static, Dispatcher>,
    from: Option<(&'static Lwp, OffCpu)>,
    to: Option<&'static Lwp>,
) {
    here.held.assert_only(Rank::Dispatcher);
    perturb::point(Point::Switching);
    let others_wait = here.waiting.load(SeqCst) > 0;
    let from_ledger = from.map(|(lwp, state)| (&lwp.ledger, state));
    let sleeper = from.filter(|(_, state)| *state != OffCpu::Runnable).map(|(lwp, _)| lwp);
    let home = sleeper.and_then(|lwp| dispatcher.home_of(lwp));
    let now = acct::switch(&here.ledger, here.number(), from_ledger, to.map(|lwp| &lwp.ledger), clock);
    if sleeper.is_some() {
        dispatcher.less_load(home, now);
    }
    crate::acct::check_switch(here, from.map(|(lwp, _)| lwp), now);
    here.slice_over.store(false, SeqCst);
    if let Some((lwp, _)) = from {
        here.counters.switches.add();
        let ran = now - here.dispatched_at.get();
        lwp.ran(ran, time::slice_ticks());
        if sleeper.is_some() {
            lwp.asleep_since.set(now);
        }
    }
    here.dispatched_at.set(now);
    if let Some(lwp) = to {
        lwp.set_place(Place::Running);
        here.priority.store(lwp.priority().number(), SeqCst);
        here.area.set_kernel_stack(lwp.stack_top());
    }
    if to.is_some() && others_wait {
        start_slice_at(here, || now);
    } else {
        here.slice_end.set(u64::MAX);
    }
    here.current.set(to);
    if from.is_some() != to.is_some() {
        here.busy.store(to.is_some(), SeqCst);
    }
    let from_context = from.map_or(&here.idle, |(lwp, _)| &lwp.context);
    let to_context = to.map_or(&here.idle, |lwp| &lwp.context);
    dispatcher.hand_over();
    // SAFETY: interrupts are off; `from` ran here until now, and `to` was queued (or is this CPU's idle loop), so it
    // runs nowhere; the lock that guards both places is held and goes over to `to`. The user state saved and loaded
    // is that of the LWP that leaves and of the one that comes.
    unsafe {
        if let Some((lwp, _)) = from {
            lwp.fpu.save();
        }
        match to {
            Some(lwp) => {
                let previous = from.map(|(previous, _)| previous);
                if previous.is_none_or(|previous| !lwp.is_beside(previous)) {
                    lwp.process().space().activate();
                }
                lwp.load_user_state(previous);
            }
            None => crate::mm::activate_kernel_space(),
        }
        from_context.switch_to(to_context);
        finish_switch(from.map(|(lwp, _)| lwp)); // who left has come back
    }
}

/// The first thing in every context that is switched to: releases the lock that came along, queues the LWP that moves to
/// another CPU, and reclaims the one that has ended, whose stacks are free now.
///
/// # Safety
/// Right after a switch, to `current`.
#[inline]
unsafe fn finish_switch(current: Option<&Lwp>) {
    let here = Here::get();
    if let Some((lwp, target)) = here.moving.get() {
        lwp.cpu.store(target, Release);
    }
    // SAFETY: the context that was left handed the lock over.
    unsafe { here.dispatcher.release_handed_over() };
    // Whoever took this CPU from an LWP that comes here sees to it that it leaves again: see `affinity`.
    let is_good = current.is_none_or(Lwp::has_no_orders);
    if here.moving.get().is_some() || here.ended.get().is_some() || !is_good {
        finish_special(here, is_good);
    }
}

/// What few switches have to finish.
#[cold]
fn finish_special(here: Here, is_good: bool) {
    let ended = here.ended.take();
    if let Some((lwp, _)) = here.moving.take() {
        enqueue_moved(lwp);
    }
    if !is_good {
        here.ask_for_attention();
    }
    if let Some(ended) = ended {
        proc::reclaim(ended);
    }
}

/// Where a new LWP's life begins, on its way to user mode with the registers at the top of its stack.
pub(crate) extern "sysv64" fn first_return(_frame: &mut Frame) {
    // SAFETY: the assembly calls this right after the switch to a new context.
    unsafe { finish_switch(Here::get().current.get()) };
    let here = Here::get();
    if here.wants_attention() {
        attend(here);
    }
    stretch::end();
}

/// In the middle of a long system call that holds nothing: lets interrupts in, and does what they ask for as on the way
/// back to user mode. The LWP may end here.
pub(crate) fn pause_long_call() {
    cpu::window();
    let here = Here::get();
    if here.wants_attention() {
        attend(here);
    }
}

/// Looks, before a return to user mode, at what this CPU was asked to: its LWP ends, stops, moves, or gives way at its
/// slice's end. Looks again when the LWP is back, perhaps on another CPU: it may have been asked meanwhile.
#[cold]
pub(crate) fn attend(mut here: Here) {
    while here.wants_attention() {
        here.take_attention();
        let lwp = here.lwp();
        if lwp.is_killed() {
            proc::exit_current();
        }
        if lwp.is_to_stop() {
            block(); // and then look again
            here = Here::get();
            here.ask_for_attention();
        } else if !lwp.allowed().has(here.number()) {
            let target = choose_for(lwp);
            move_to(here, here.cpu().dispatcher.lock(), target);
        } else if here.slice_over.swap(false, SeqCst) {
            end_slice(here);
        }
        here = Here::get();
    }
}
