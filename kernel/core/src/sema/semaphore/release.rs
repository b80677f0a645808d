//! V, and tokens that go on.

use super::{Caller, Recursion, Scene, Semaphore};
use crate::clock::Rate;
use crate::list::Slot;
use crate::sema::meter::Got;
use crate::sema::waiter::{Waiter, Waiters};
use crate::sema::word::Word;
use syscalls::Errno;
use syscalls::sema::{MOST_TOKENS, operation};

impl Semaphore {
    /// V where it is not watched. Its word is closed. Returns who is to be woken. EOVERFLOW: there are too many tokens, and
    /// nothing has changed.
    #[inline]
    pub(in crate::sema) fn release<W: Waiters>(
        &mut self,
        word: &Word,
        waiters: &W,
        rate: &Rate,
        now: impl Fn() -> u64,
    ) -> Result<Option<Slot>, Errno> {
        let waiting = self.queue.length();
        let first = self.queue.pop(waiters);
        let is_possible = first.is_some() || self.tokens < MOST_TOKENS;
        if is_possible {
            self.note_release(waiting);
            match first {
                Some(slot) => self.hand_over(waiters.waiter(slot), rate, now),
                None => self.tokens += 1,
            }
        }
        self.open_if_free(word);
        if is_possible { Ok(first) } else { Err(Errno::EOVERFLOW) }
    }

    /// V where it is watched. Its word is closed. Returns who is to be woken. EPERM: it is recursive, and the caller does not
    /// have it; EOVERFLOW: there are too many tokens. Nothing has changed then.
    #[inline(always)]
    pub(in crate::sema) fn release_watched<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
    ) -> Result<Option<Slot>, Errno> {
        let is_nested = self.is_nested_release(caller.tid)?;
        let waiting = self.queue.length();
        if is_nested || waiting == 0 {
            return self.keep_watched(scene, caller, is_nested);
        }
        self.note_release(waiting);
        let first = self.queue.pop(scene.waiters);
        if let Some(slot) = first {
            let waiter = scene.waiters.waiter(slot);
            if let Some(debug) = &mut self.debug {
                debug.last = Some(caller.user());
            }
            self.note(scene, operation::V_WAKE, caller, Some(waiter));
            self.hand_over_watched(scene, waiter);
        }
        Ok(first)
    }

    /// V where it is watched, and for nobody who waits. EOVERFLOW.
    #[inline]
    fn keep_watched<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        is_nested: bool,
    ) -> Result<Option<Slot>, Errno> {
        if is_nested {
            self.nest_less();
        } else if self.tokens == MOST_TOKENS {
            return Err(Errno::EOVERFLOW);
        } else {
            self.put_back();
        }
        self.note_release(self.queue.length());
        if let Some(debug) = &mut self.debug {
            match is_nested {
                true => debug.last = Some(caller.user()),
                false => debug.released(caller.user(), self.tokens >= self.initial),
            }
        }
        self.note(scene, operation::V_NO_WAIT, caller, None);
        Ok(None)
    }

    /// Whether this V only undoes a nested P. EPERM.
    #[inline]
    fn is_nested_release(&self, tid: u32) -> Result<bool, Errno> {
        match self.recursion {
            Recursion::Off => Ok(false),
            Recursion::Held { tid: owner, depth } if owner == tid => Ok(depth > 1),
            Recursion::Free | Recursion::Held { .. } => Err(Errno::EPERM),
        }
    }

    fn nest_less(&mut self) {
        if let Recursion::Held { depth, .. } = &mut self.recursion {
            *depth -= 1;
        }
    }

    /// A token for nobody in particular.
    #[inline]
    fn put_back(&mut self) {
        self.tokens += 1;
        if self.recursion != Recursion::Off {
            self.recursion = Recursion::Free;
        }
    }

    /// Gives a token to a waiter that is out of the queue. The last thing: from then on it is the waiter's own.
    #[inline]
    fn hand_over(&mut self, waiter: &Waiter, rate: &Rate, now: impl Fn() -> u64) {
        self.note_wait(waiter, rate, now);
        waiter.grant();
    }

    /// The same where it is watched.
    #[inline]
    fn hand_over_watched<W: Waiters, N: Fn() -> u64>(&mut self, scene: &Scene<W, N>, waiter: &Waiter) {
        if let Some(debug) = &mut self.debug {
            debug.owner = Some(waiter.user());
        }
        self.hold(waiter.tid());
        self.hand_over(waiter, scene.rate, &scene.now);
    }

    /// A token did not arrive, because the LWP that had got it ends: the next waiter has it, and is to be woken, or it is
    /// as if it had not been given.
    pub(in crate::sema) fn pass_on<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        tid: u32,
        got: Got,
    ) -> Option<Slot> {
        self.close(scene.word);
        let next = match self.is_nested_release(tid) {
            Ok(true) => {
                self.nest_less();
                None
            }
            Ok(false) => self.pass_token_on(scene, got),
            Err(_) => None, // recursion began while more than one token was out: there is one only from then on
        };
        self.settle(scene.word, scene.history);
        next
    }

    fn pass_token_on<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        got: Got,
    ) -> Option<Slot> {
        let next = self.queue.pop(scene.waiters);
        if let Some(slot) = next {
            self.hand_over_watched(scene, scene.waiters.waiter(slot));
            return next;
        }
        if self.tokens < MOST_TOKENS {
            self.put_back();
        }
        if let Some(meter) = &mut self.meter {
            meter.take_back(got);
        }
        if let Some(debug) = &mut self.debug {
            debug.owner = None;
        }
        None
    }
}
