//! P, and what becomes of who waits.

use super::{Acquire, Caller, Patience, Recursion, Scene, Semaphore, Withdrawal};
use crate::sema::history::History;
use crate::sema::meter::Got;
use crate::sema::waiter::Waiters;
use syscalls::Errno;
use syscalls::sema::{MOST_TOKENS, operation};

impl Semaphore {
    /// P. EOVERFLOW: its owner has it too many times.
    #[inline]
    pub(in crate::sema) fn acquire<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        patience: Patience,
    ) -> Result<Acquire, Errno> {
        self.close(scene.word);
        let result = if self.take(caller.tid)? {
            self.note_acquire(Got::AtOnce);
            self.note_owner(caller);
            self.note(scene, operation::P_HIT, caller, None);
            Acquire::Hit
        } else {
            self.note_acquire(Got::Nothing);
            self.miss(scene, caller, patience)
        };
        self.settle(scene.word, scene.history);
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

    #[inline]
    fn miss<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        patience: Patience,
    ) -> Acquire {
        let (operation, result) = match patience {
            Patience::Wait => (operation::P_SLEEP, Acquire::Queued),
            Patience::None => (operation::P_MISS, Acquire::Missed),
            Patience::ZeroTime => (operation::P_TIMEOUT, Acquire::Missed),
        };
        if result == Acquire::Queued {
            let since = if self.meter.is_some() { (scene.now)() } else { 0 };
            scene.waiters.waiter(caller.slot).begin(caller, since);
            self.queue.push(scene.waiters, caller.slot);
            if let Some(meter) = &mut self.meter {
                meter.add_waiter(self.queue.length());
            }
        }
        self.note(scene, operation, caller, None);
        result
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
        self.note_wait(scene, scene.waiters.waiter(caller.slot));
        if why == Withdrawal::TimedOut {
            self.note(scene, operation::P_TIMEOUT, caller, None);
        }
        self.settle(scene.word, scene.history);
        true
    }
}
