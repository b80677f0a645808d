//! P and V on the semaphore of a ticket, and what else changes its count.

use super::{Arena, Memory, Ticket};
use crate::list::Slot;
use crate::sema::meter::Got;
use crate::sema::semaphore::{Acquire, Caller, Patience, Scene, Semaphore, Withdrawal};
use crate::sema::slab::Slab;
use crate::sema::waiter::Waiters;
use syscalls::Errno;

impl Ticket {
    /// Its semaphore, unless that is no more.
    #[inline]
    fn holder(self, semaphores: &mut Slab<Semaphore>) -> Option<&mut Semaphore> {
        semaphores.get_mut(self.index).filter(|semaphore| semaphore.born == self.born)
    }
}

impl Arena {
    /// The semaphore of a ticket and what operations on it need, unless it is no more.
    #[inline]
    fn scene<'a, M: Memory, W, N>(
        &'a mut self,
        memory: &'a M,
        waiters: &'a W,
        ticket: Ticket,
        now: N,
    ) -> Option<(&'a mut Semaphore, Scene<'a, W, N>)> {
        let Arena { budget, semaphores, history, rate, .. } = self;
        let semaphore = ticket.holder(semaphores)?;
        let word = &memory.head(semaphore.line).word;
        Some((semaphore, Scene { word, waiters, history, budget, rate, now }))
    }

    /// P. EINVAL: the semaphore is no more; EOVERFLOW: its owner has it too many times.
    #[inline]
    pub fn acquire(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: impl Fn() -> Caller,
        patience: Patience,
        now: impl Fn() -> u64,
    ) -> Result<Acquire, Errno> {
        let Arena { budget, semaphores, history, rate, .. } = self;
        let Some(semaphore) = ticket.holder(semaphores) else { return Err(Errno::EINVAL) };
        let word = &memory.head(semaphore.line).word;
        semaphore.close(word);
        if semaphore.is_watched(history) {
            // Made here, not before: the others are quicker without it.
            let mut scene = Scene { word, waiters, history, budget, rate, now };
            return semaphore.acquire_watched(&mut scene, &caller(), patience);
        }
        Ok(semaphore.acquire(word, waiters, caller, patience, now))
    }

    /// V; returns who is to be woken. EINVAL: the semaphore is no more; EPERM: it is recursive and another's; EOVERFLOW:
    /// there are too many tokens.
    #[inline]
    pub fn release(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: impl Fn() -> Caller,
        now: impl Fn() -> u64,
    ) -> Result<Option<Slot>, Errno> {
        let Arena { budget, semaphores, history, rate, .. } = self;
        let Some(semaphore) = ticket.holder(semaphores) else { return Err(Errno::EINVAL) };
        let word = &memory.head(semaphore.line).word;
        semaphore.close(word);
        if semaphore.is_watched(history) {
            let mut scene = Scene { word, waiters, history, budget, rate, now };
            return semaphore.release_watched(&mut scene, &caller());
        }
        semaphore.release(word, waiters, rate, now)
    }

    /// Whether [`Arena::woke`] would do anything, for any of its semaphores.
    #[inline]
    #[must_use]
    pub fn keeps_wakes(&self) -> bool {
        self.budget.debugs != 0 || self.history.is_on()
    }

    /// A waiter that was given a token runs with it.
    #[inline]
    pub fn woke(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: &Caller,
        now: impl Fn() -> u64,
    ) {
        if let Some((semaphore, mut scene)) = self.scene(memory, waiters, ticket, now)
            && semaphore.keeps_wakes(scene.history)
        {
            semaphore.woke(&mut scene, caller);
        }
    }

    /// A waiter gives up; false: it waits no longer.
    pub fn withdraw(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: &Caller,
        why: Withdrawal,
        now: impl Fn() -> u64,
    ) -> bool {
        self.scene(memory, waiters, ticket, now)
            .is_some_and(|(semaphore, mut scene)| semaphore.withdraw(&mut scene, caller, why))
    }

    /// The LWP `tid` ends before its P has returned: its token goes to the next, who is returned to be woken.
    pub fn pass_on(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        tid: u32,
        got: Got,
        now: impl Fn() -> u64,
    ) -> Option<Slot> {
        let (semaphore, mut scene) = self.scene(memory, waiters, ticket, now)?;
        semaphore.pass_on(&mut scene, tid, got)
    }
}
