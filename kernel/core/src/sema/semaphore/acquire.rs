//! P, and what becomes of who waits.

use super::{Acquire, Caller, Patience, Recursion, Scene, Semaphore, Withdrawal};
use crate::sema::history::History;
use crate::sema::waiter::Waiters;
use crate::sema::word::Word;
use syscalls::Errno;
use syscalls::sema::{MOST_TOKENS, operation};

impl Semaphore {
    /// P where it is not watched. Its word is closed.
    #[inline]
    pub(in crate::sema) fn acquire<W: Waiters>(
        &mut self,
        word: &Word,
        waiters: &W,
        caller: impl Fn() -> Caller,
        patience: Patience,
        now: impl Fn() -> u64,
    ) -> Acquire {
        let has_token = self.tokens != 0;
        self.note_acquire(has_token);
        if has_token {
            self.tokens -= 1;
        } else if patience == Patience::Wait {
            self.queue_up(waiters, &caller(), now);
            return Acquire::Queued;
        }
        self.open_if_free(word);
        if has_token { Acquire::Hit } else { Acquire::Missed }
    }

    /// P where it is watched. Its word is closed. EOVERFLOW: its owner has it too many times.
    #[inline(never)] // which spares a P that waits some twenty instructions
    pub(in crate::sema) fn acquire_watched<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        patience: Patience,
    ) -> Result<Acquire, Errno> {
        let has_token = self.take(caller.tid)?;
        self.note_acquire(has_token);
        let (operation, result) = match patience {
            _ if has_token => (operation::P_HIT, Acquire::Hit),
            Patience::Wait => (operation::P_SLEEP, Acquire::Queued),
            Patience::None => (operation::P_MISS, Acquire::Missed),
            Patience::ZeroTime => (operation::P_TIMEOUT, Acquire::Missed),
        };
        match result {
            Acquire::Hit => self.note_owner(caller),
            Acquire::Queued => self.queue_up(scene.waiters, caller, &scene.now),
            Acquire::Missed => {}
        }
        self.note(scene, operation, caller, None);
        Ok(result)
    }

    /// Gives `tid` a token, if there is one for it.
    #[inline]
    fn take(&mut self, tid: u32) -> Result<bool, Errno> {
        if let Recursion::Held { tid: owner, depth } = &mut self.recursion
            && *owner == tid
        {
            if *depth == MOST_TOKENS {
                return Err(Errno::EOVERFLOW);
            }
            *depth += 1;
            return Ok(true);
        }
        if self.tokens == 0 {
            return Ok(false);
        }
        self.tokens -= 1;
        self.hold(tid);
        Ok(true)
    }

    /// `tid` has it now.
    #[inline]
    pub(super) fn hold(&mut self, tid: u32) {
        if self.recursion != Recursion::Off {
            self.recursion = Recursion::Held { tid, depth: 1 };
        }
    }

    /// The caller waits from now on, behind the others.
    #[inline]
    fn queue_up<W: Waiters>(&mut self, waiters: &W, caller: &Caller, now: impl Fn() -> u64) {
        let since = if self.meter.is_some() { now() } else { 0 };
        waiters.waiter(caller.slot).begin(caller, since);
        self.queue.push(waiters, caller.slot);
        if let Some(meter) = &mut self.meter {
            meter.add_waiter(self.queue.length());
        }
    }

    /// A waiter that was given a token runs with it.
    pub(in crate::sema) fn woke<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
    ) {
        if let Some(debug) = &mut self.debug {
            debug.last = Some(caller.user());
        }
        self.note(scene, operation::P_WOKE, caller, None);
    }

    /// Whether [`Semaphore::woke`] would do anything.
    #[inline]
    pub(in crate::sema) fn keeps_wakes(&self, history: &History) -> bool {
        self.debug.is_some() || self.keeps_history && history.is_on()
    }

    /// A waiter gives up. False: it waits no longer, a V or the semaphore's end was faster.
    pub(in crate::sema) fn withdraw<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        why: Withdrawal,
    ) -> bool {
        if !self.queue.remove(scene.waiters, caller.slot) {
            return false;
        }
        self.note_wait(scene.waiters.waiter(caller.slot), scene.rate, &scene.now);
        if why == Withdrawal::TimedOut {
            self.note(scene, operation::P_TIMEOUT, caller, None);
        }
        self.settle(scene.word, scene.history);
        true
    }
}
