//! P, V, and the end of semaphores.

use super::{ARENAS, LwpWaiters, Place, keeps_wakes, locate, with_arena, with_semaphore, with_whole};
use crate::arch::clock;
use crate::cpu::Here;
use crate::proc::{Lwp, table};
use crate::sched;
use crate::time::ticks_at;
use kcore::sched::Slot;
use kcore::sema::{Acquire, Caller, Fate, Got, Patience, Ticket, Withdrawal};
use syscalls::{Errno, number};

/// The token that an LWP's last P gave it, for the case that it ends before it has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    address: u64,
    ticket: Ticket,
    got: Got,
}

/// So many semaphores adapt to a history's being switched before other CPUs have the lock.
const ADAPT_AT_ONCE: u32 = 256;

#[inline]
fn caller(lwp: &Lwp, pc: u64) -> Caller {
    Caller { slot: lwp.slot, pid: lwp.process().pid(), tid: lwp.tid(), pc }
}

#[inline]
fn wake(woken: Option<Slot>) {
    if let Some(slot) = woken {
        sched::wake(table::lwp(slot));
    }
}

impl Place {
    /// Somebody was taken out of a queue.
    #[inline]
    fn count_out(&mut self, woken: Option<Slot>) {
        if woken.is_some() {
            self.sleepers -= 1;
        }
    }
}

/// V on the semaphore at an address, called at `pc`. EINVAL, EPERM, EOVERFLOW.
#[inline]
pub(crate) fn release(address: u64, pc: u64) -> Result<(), Errno> {
    let caller = || caller(Here::get().lwp(), pc);
    let woken = with_semaphore(address, |place, ticket| {
        let woken = place.arena.release(&place.pages, &LwpWaiters, ticket, caller, clock)?;
        place.count_out(woken);
        Ok(woken)
    })?;
    wake(woken);
    Ok(())
}

/// P on the semaphore at an address, called at `pc`, for at most `nanoseconds` where the patience is limited; whether it has
/// a token. EINVAL, EOVERFLOW; EIDRM: the semaphore was freed or initialised meanwhile; EINTR: the LWP must end.
#[inline]
pub(crate) fn acquire(
    address: u64,
    pc: u64,
    patience: Patience,
    nanoseconds: Option<u64>,
) -> Result<bool, Errno> {
    let lwp = Here::get().lwp();
    let result = with_semaphore(address, |place, ticket| {
        let caller = || caller(lwp, pc);
        let result = place.arena.acquire(&place.pages, &LwpWaiters, ticket, caller, patience, clock)?;
        let set_token = |got| lwp.token.set(Some(Token { address, ticket, got }));
        match result {
            Acquire::Queued => {
                place.sleepers += 1;
                set_token(Got::Later);
            }
            Acquire::Hit => set_token(Got::AtOnce),
            Acquire::Missed => {}
        }
        Ok(result)
    })?;
    match result {
        Acquire::Hit => Ok(true),
        Acquire::Missed => Ok(false),
        Acquire::Queued => wait(lwp, address, pc, nanoseconds.map(|ns| clock().saturating_add(ticks_at(ns)))),
    }
}

/// Waits for the token that the LWP has queued for, in a P at `pc`; false: the clock has reached the deadline.
#[inline]
fn wait(lwp: &'static Lwp, address: u64, pc: u64, deadline: Option<u64>) -> Result<bool, Errno> {
    loop {
        sched::block_until(deadline);
        match lwp.semaphore.fate() {
            Fate::Granted => {
                if keeps_wakes(address) {
                    record_woken(lwp, pc);
                }
                return Ok(true);
            }
            Fate::Expelled => return Err(Errno::EIDRM),
            Fate::Waiting => {}
        }
        let is_killed = lwp.is_killed();
        let is_over = deadline.is_some_and(|deadline| clock() >= deadline);
        let why = if is_killed { Withdrawal::Killed } else { Withdrawal::TimedOut };
        if (is_killed || is_over) && withdraw(lwp, pc, why) {
            return if is_killed { Err(Errno::EINTR) } else { Ok(false) };
        }
    }
}

/// The waiter runs with its token. The arena may be gone by now.
#[cold]
fn record_woken(lwp: &Lwp, pc: u64) {
    let Some(Token { address, ticket, .. }) = lwp.token.get() else { return };
    let _ = with_arena(address, |place, _| {
        place.arena.woke(&place.pages, &LwpWaiters, ticket, &caller(lwp, pc), clock);
        Ok(())
    });
}

/// Gives up waiting; false where a waker was faster. Here the process may have left the arena, which then goes with its
/// last sleeper.
#[cold]
fn withdraw(lwp: &Lwp, pc: u64, why: Withdrawal) -> bool {
    let Some(Token { address, ticket, .. }) = lwp.token.get() else { return false };
    let Ok((number, _)) = locate(address) else { return false };
    let caller = caller(lwp, pc);
    let mut gone = None;
    let withdrawn = {
        let mut place = ARENAS[number].lock();
        let Some(arena) = place.as_deref_mut() else { return false };
        let withdrawn = arena.arena.withdraw(&arena.pages, &LwpWaiters, ticket, &caller, why, clock);
        if withdrawn {
            arena.sleepers -= 1;
        }
        if arena.is_deserted() {
            gone = place.take();
        }
        withdrawn
    };
    drop(gone);
    withdrawn
}

/// Frees the semaphore at an address of the arena at another. EINVAL.
pub(crate) fn end(address: u64, arena: u64) -> Result<(), Errno> {
    if locate(address)?.0 != locate(arena)?.0 || locate(arena)?.1 != 0 {
        return Err(Errno::EINVAL);
    }
    with_semaphore(address, |place, ticket| {
        place.end(ticket);
        place.arena.bury(ticket);
        Ok(())
    })
}

/// Makes the semaphore at an address a new one with `tokens`. EINVAL.
pub(crate) fn re_initialise(address: u64, tokens: u32) -> Result<(), Errno> {
    with_semaphore(address, |place, ticket| {
        place.end(ticket);
        place.arena.begin_again(&place.pages, ticket, tokens, clock());
        Ok(())
    })
}

impl Place {
    /// Ends a semaphore, and wakes whoever waits for it.
    fn end(&mut self, ticket: Ticket) {
        self.change_records(|place| place.arena.end(&place.pages, ticket));
        while let Some(slot) = self.arena.expel(&LwpWaiters, ticket) {
            self.count_out(Some(slot));
            wake(Some(slot));
        }
    }
}

/// Switches the history of the arena at an address, for all its semaphores. EINVAL.
pub(crate) fn switch_history(address: u64, is_on: bool) -> Result<(), Errno> {
    let mut next = with_whole(address, |place| {
        place.change_records(|place| place.arena.switch_history(is_on));
        Ok(Some(0))
    })?;
    while let Some(from) = next {
        next = with_whole(address, |place| Ok(place.arena.adapt(&place.pages, from, ADAPT_AT_ONCE)))?;
    }
    Ok(())
}

/// On the way out of a system call that is interrupted by a request for attention: whether the call was a P whose token is
/// not in user mode yet. To be taken back when the way goes on.
pub(crate) fn on_the_way_out(lwp: &Lwp, call: u64, result: u64) {
    lwp.carries_token.set(call as usize == number::sema_acquire && result == 1);
}

/// The running LWP ends: a token that it carries goes to the next.
pub(crate) fn pass_on(lwp: &Lwp) {
    if !lwp.carries_token.take() {
        return;
    }
    let Some(Token { address, ticket, got }) = lwp.token.take() else { return };
    let passed = with_arena(address, |place, _| {
        let next = place.arena.pass_on(&place.pages, &LwpWaiters, ticket, lwp.tid(), got, clock);
        place.count_out(next);
        Ok(next)
    });
    wake(passed.ok().flatten());
}
