//! Giving way and going on.

use super::Dispatcher;
use super::timer::{start_slice, start_slice_at};
use crate::arch::{Frame, clock};
use crate::cpu::{self, Here};
use crate::proc::{self, Lwp, Place, table};
use crate::sync::{Guard, Rank};
use core::sync::atomic::Ordering::Relaxed;
use kcore::acct::{self, OffCpu};

/// A new LWP, whose ledger says runnable already, is queued for the first time.
pub(crate) fn start(lwp: &'static Lwp) {
    let here = Here::get();
    lwp.cpu.store(here.number(), Relaxed);
    let mut dispatcher = here.cpu().dispatcher.lock();
    enqueue(here, &mut dispatcher, lwp);
}

/// Ends the wait of an LWP, from anywhere; nothing happens where it has ended or is queued already.
pub(crate) fn wake(lwp: &'static Lwp) {
    loop {
        let number = lwp.cpu.load(Relaxed);
        let cpu = cpu::get(number).expect("an LWP's CPU is up");
        let mut dispatcher = cpu.dispatcher.lock();
        if lwp.cpu.load(Relaxed) != number {
            continue; // it moved to another CPU before the lock was taken
        }
        match lwp.place() {
            Place::Blocked => {
                lwp.ledger.wake(clock);
                enqueue(Here::get(), &mut dispatcher, lwp);
            }
            Place::Running | Place::Queued => lwp.wake_pending.set(true),
            Place::Nowhere => {}
        }
        return;
    }
}

/// Has an LWP that was killed notice: ends its wait, or has its CPU look before the next return to user mode.
pub(crate) fn notice(lwp: &'static Lwp) {
    wake(lwp);
    if let Some(cpu) = cpu::get(lwp.cpu.load(Relaxed)) {
        cpu.ask_for_attention();
    }
}

fn enqueue(here: Here, dispatcher: &mut Dispatcher, lwp: &'static Lwp) {
    lwp.set_place(Place::Queued);
    dispatcher.push(lwp.slot);
    if here.current.get().is_some() {
        start_slice(here);
    }
}

/// Gives way to the LWPs that wait, and goes on after them.
pub(crate) fn yield_now() {
    let here = Here::get();
    here.lwp().voluntary.fetch_add(1, Relaxed);
    give_way(here);
}

fn give_way(here: Here) {
    let lwp = here.lwp();
    let mut dispatcher = here.cpu().dispatcher.lock();
    let Some(next) = dispatcher.pop() else { return };
    lwp.set_place(Place::Queued);
    dispatcher.push(lwp.slot);
    switch(here, dispatcher, Some((lwp, OffCpu::Runnable)), Some(table::lwp(next)));
}

/// Waits to be woken. The caller has made itself known to its waker before, and looks again at what it waits for.
pub(crate) fn block() {
    let here = Here::get();
    let lwp = here.lwp();
    let mut dispatcher = here.cpu().dispatcher.lock();
    if lwp.wake_pending.take() || lwp.is_killed() {
        return;
    }
    lwp.set_place(Place::Blocked);
    lwp.voluntary.fetch_add(1, Relaxed);
    let next = dispatcher.pop().map(table::lwp);
    switch(here, dispatcher, Some((lwp, OffCpu::Sleeping)), next);
}

/// Ends the running LWP: the next context on this CPU reclaims it.
pub(crate) fn end_current() -> ! {
    let here = Here::get();
    let lwp = here.lwp();
    let mut dispatcher = here.cpu().dispatcher.lock();
    lwp.set_place(Place::Nowhere);
    here.ended.set(Some(lwp));
    let next = dispatcher.pop().map(table::lwp);
    switch(here, dispatcher, Some((lwp, OffCpu::Ended)), next);
    unreachable!("an LWP that has ended is never switched to")
}

/// The idle loop's part: goes to the first LWP that waits, if one does. Returns when nothing waits any more.
pub(super) fn leave_idle() {
    let here = Here::get();
    let mut dispatcher = here.cpu().dispatcher.lock();
    if let Some(next) = dispatcher.pop() {
        switch(here, dispatcher, None, Some(table::lwp(next)));
    }
}

/// The one place where contexts change; None is the idle loop. Everything between the two LWPs is booked at one stamp.
fn switch(
    here: Here,
    dispatcher: Guard<'static, Dispatcher>,
    from: Option<(&'static Lwp, OffCpu)>,
    to: Option<&'static Lwp>,
) {
    here.held.assert_only(Rank::Dispatcher);
    let others_wait = !dispatcher.is_empty();
    let from_ledger = from.map(|(lwp, state)| (&lwp.ledger, state));
    let now = acct::switch(&here.ledger, here.number(), from_ledger, to.map(|lwp| &lwp.ledger), clock);
    if let Some(lwp) = to {
        lwp.set_place(Place::Running);
        here.area.set_kernel_stack(lwp.stack_top());
        here.slice_end.set(u64::MAX);
        if others_wait {
            start_slice_at(here, now);
        }
    }
    here.current.set(to);
    let (from_context, to_context) =
        (from.map_or(&here.idle, |(l, _)| &l.context), to.map_or(&here.idle, |l| &l.context));
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
                lwp.process().space.activate();
                lwp.load_user_state();
            }
            None => crate::mm::activate_kernel_space(),
        }
        from_context.switch_to(to_context);
        finish_switch();
    }
}

/// The first thing in every context that is switched to: releases the lock that came along, and reclaims the LWP that
/// ended on the way here.
///
/// # Safety
/// Right after a switch.
unsafe fn finish_switch() {
    let here = Here::get();
    // SAFETY: the context that was left handed the lock over.
    unsafe { here.dispatcher.release_handed_over() };
    if here.current.get().is_some_and(Lwp::is_killed) {
        here.ask_for_attention();
    }
    if let Some(ended) = here.ended.take() {
        proc::reclaim(ended);
    }
}

/// Where a new LWP's life begins, on its way to user mode with the registers at the top of its stack.
pub(crate) extern "sysv64" fn first_return(_frame: &mut Frame) {
    // SAFETY: the assembly calls this right after the switch to a new context.
    unsafe { finish_switch() };
    let here = Here::get();
    if here.wants_attention() {
        attend(here);
    }
}

#[cold]
/// Looks, before a return to user mode, at what this CPU was asked to: its LWP ends, or gives way at its slice's end.
pub(crate) fn attend(here: Here) {
    here.take_attention();
    if here.lwp().is_killed() {
        proc::exit_current();
    }
    if here.slice_over.take() {
        here.lwp().involuntary.fetch_add(1, Relaxed);
        give_way(here);
    }
}
