//! Giving way and going on.

use super::ready::{choose_for, end_slice_of, enqueue_moved, idle_for};
use super::timer::{renew_slice, start_slice_at};
use super::{Dispatcher, load_of, waiting_on};
use crate::arch::{Frame, clock};
use crate::cpu::{self, Here};
use crate::debug::perturb::{self, Point};
use crate::debug::stretch;
use crate::proc::{self, Lwp};
use crate::sync::{Guard, Rank};
use crate::time;
use core::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use kcore::acct::{self, OffCpu};
use kcore::sched::AfterSlice;
use kcore::sched::balance::{place_after_slice, victim};
use kcore::sched::place::{Block, Place};

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
        AfterSlice::Stay => match idle_for(lwp) {
            Some(target) => go_to(here, dispatcher, target),
            None => {
                here.priority.store(lwp.priority().number(), SeqCst);
                drop(dispatcher);
                renew_slice(here);
            }
        },
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
    count_involuntary(here, lwp);
    lwp.set_place(Place::Queued);
    switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), Some(next));
}

/// The running LWP waits where the queue is shortest.
fn go_behind(here: Here, mut dispatcher: Guard<'static, Dispatcher>) {
    let lwp = here.lwp();
    let own = here.number();
    let load = |cpu| load_of(cpu) - u32::from(cpu == own);
    let target = place_after_slice(own, lwp.allowed(), load);
    if target != own {
        return go_to(here, dispatcher, target);
    }
    count_involuntary(here, lwp);
    if let Some(next) = dispatcher.exchange(lwp) {
        lwp.set_place(Place::Queued);
        switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), Some(next));
    }
}

/// The running LWP goes on elsewhere: those who wait here may not.
fn go_to(here: Here, dispatcher: Guard<'static, Dispatcher>, target: u32) {
    count_involuntary(here, here.lwp());
    move_to(here, dispatcher, target);
}

fn count_involuntary(here: Here, lwp: &Lwp) {
    lwp.involuntary.fetch_add(1, Relaxed);
    here.counters.involuntary.add();
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

/// An LWP that waits on another CPU and may run here; from the longest queue that has one. Where none of those who wait may
/// come, but the one that they wait for may, that one is asked to: it makes room for them.
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
        if from.current.get().is_some_and(|lwp| lwp.allowed().has(own)) {
            end_slice_of(from);
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
