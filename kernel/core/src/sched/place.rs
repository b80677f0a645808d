//! Block and wake: where an LWP stands, and the one protocol by which it goes to sleep and is woken.
//!
//! **Problem.** An LWP goes to sleep on its own CPU; what wakes it comes from any CPU and at any moment: before it
//! sleeps, while it goes to sleep, after somebody else woke it. No wake-up may be lost, none may queue an LWP twice,
//! and an LWP that is to end must not sleep through it.
//!
//! **Answer.** A blocker first makes itself known to its wakers, looks a last time at what it waits for, then blocks.
//! Blocking and waking are transitions of one value, the [`Standing`], under one lock, so there is no moment between
//! the two. A wake-up that comes before the block is kept, and that block returns at once.
//!
//! **Invariants.**
//! - No LWP is blocked while a wake-up is kept for it.
//! - Only a wake-up ends [`Place::Blocked`], and one only: whoever gets [`Wake::Queue`] queues the LWP, nobody else
//!   does.
//! - An LWP whose fate is sealed does not block any more. A kill is two steps in this order: seal the fate, then wake.
//!   The first happens before the second's lock is taken, so either the block sees the fate, or the wake-up finds the
//!   LWP blocked.
//!
//! **Which lock.** That of the dispatcher of the CPU that the LWP belongs to. The CPU changes under the lock of the old
//! one, and whoever takes a lock looks again whether it is the right one ([`lock_of`]). In between the LWP is queued,
//! though perhaps in no queue yet: a wake-up that comes then is kept.
//!
//! **The price.** A kept wake-up may have been meant for a wait that ended otherwise, and wakes of an LWP's previous
//! life may come late: a block returns without cause now and then. Whoever waits looks again at what it waits for.
//!
//! **Tried and refused:** a state "about to sleep", entered before the last look, as other kernels have it. Each way
//! out between the look and the sleep would have to leave it; a kept wake-up asks nothing of anyone.

use crate::sync::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
};

/// Where the dispatcher has an LWP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The slot has no LWP yet, or one that has ended.
    Nowhere,
    /// On its CPU.
    Running,
    /// In its CPU's run queue, or on the way from one queue or CPU to another.
    Queued,
    /// Blocked: a wake-up will queue it.
    Blocked,
}

/// What is known of the rest of an LWP's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Open,
    /// It was killed: it ends as soon as it is about to return to user mode.
    Sealed,
}

/// What a waker does, under the lock that guards the LWP's standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "an LWP that is to be queued is lost"]
pub enum Wake {
    /// It was blocked and is queued now: the waker puts it into a queue.
    Queue,
    /// It is not blocked: its next block returns at once.
    Keep,
    /// It lives no more.
    Nothing,
}

/// What a blocker does, under the lock that guards its standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "an LWP that is blocked gives up its CPU"]
pub enum Block {
    /// It is blocked now: it switches away.
    Sleep,
    /// It goes on: a wake-up was faster, or it is to end.
    Return,
}

/// All that the protocol knows of an LWP. Lies in the LWP, guarded by its dispatcher's lock ([`lock_of`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    place: Place,
    /// A wake-up came when it was not blocked.
    wake_kept: bool,
}

impl Standing {
    /// Of a slot without an LWP, and of an LWP that was not started yet.
    #[must_use]
    pub const fn new() -> Standing {
        Standing { place: Place::Nowhere, wake_kept: false }
    }

    /// Where the LWP is.
    #[inline]
    #[must_use]
    pub const fn place(self) -> Place {
        self.place
    }

    /// The dispatcher starts the LWP, gives it a CPU, takes it away, moves it or ends it. Sleep has its own ways:
    /// [`Standing::block`] and [`Standing::wake`]. An end leaves nothing for the slot's next LWP.
    #[inline]
    #[must_use]
    pub const fn put(self, place: Place) -> Standing {
        debug_assert!(self.place.may_become(place), "an LWP was put where it cannot go from where it was");
        match place {
            Place::Nowhere => Standing::new(),
            Place::Running | Place::Queued | Place::Blocked => Standing { place, ..self },
        }
    }

    /// Somebody wakes the LWP.
    #[inline]
    pub const fn wake(self) -> (Standing, Wake) {
        match self.place {
            Place::Blocked => (Standing { place: Place::Queued, ..self }, Wake::Queue),
            Place::Running | Place::Queued => (Standing { wake_kept: true, ..self }, Wake::Keep),
            Place::Nowhere => (self, Wake::Nothing),
        }
    }

    /// The LWP, which runs, wants to sleep.
    #[inline]
    pub const fn block(self, fate: Fate) -> (Standing, Block) {
        debug_assert!(matches!(self.place, Place::Running), "only who runs can block");
        match fate {
            Fate::Open if !self.wake_kept => (Standing { place: Place::Blocked, ..self }, Block::Sleep),
            Fate::Open | Fate::Sealed => (Standing { wake_kept: false, ..self }, Block::Return),
        }
    }
}

impl Default for Standing {
    fn default() -> Standing {
        Standing::new()
    }
}

impl Place {
    /// Whether the dispatcher may put an LWP that is here there.
    const fn may_become(self, next: Place) -> bool {
        match self {
            Place::Nowhere => matches!(next, Place::Queued),
            Place::Running => matches!(next, Place::Queued | Place::Nowhere),
            Place::Queued => matches!(next, Place::Queued | Place::Running),
            Place::Blocked => false,
        }
    }
}

/// Takes the lock that guards an LWP's standing: that of the CPU whose number `cpu` holds, once it is held. `cpu`
/// changes under that lock only, by a store with release: an LWP that has moved here was written under the old CPU's
/// lock. `lock` waits for the lock of the CPU with a number.
#[inline(always)]
pub fn lock_of<G>(cpu: &AtomicU32, lock: impl Fn(u32) -> G) -> G {
    loop {
        let number = cpu.load(Relaxed); // a guess
        let guard = lock(number);
        if cpu.load(Acquire) == number {
            return guard;
        } // else it moved to another CPU before the lock was taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [Place; 4] = [Place::Nowhere, Place::Running, Place::Queued, Place::Blocked];
    const FATES: [Fate; 2] = [Fate::Open, Fate::Sealed];

    /// All that can come next.
    fn successors(standing: Standing) -> Vec<Standing> {
        let mut next = vec![standing.wake().0];
        next.extend(
            PLACES.into_iter().filter(|&to| standing.place.may_become(to)).map(|to| standing.put(to)),
        );
        if standing.place() == Place::Running {
            next.extend(FATES.map(|fate| standing.block(fate).0));
        }
        next
    }

    /// All that a history can lead to.
    fn reachable() -> Vec<Standing> {
        let mut found = vec![Standing::new()];
        let mut index = 0;
        while index < found.len() {
            let new: Vec<_> =
                successors(found[index]).into_iter().filter(|next| !found.contains(next)).collect();
            found.extend(new);
            index += 1;
        }
        found
    }

    #[test]
    fn every_place_is_reached_and_nobody_sleeps_over_a_wake_up_or_leaves_one() {
        let found = reachable();
        for place in PLACES {
            assert!(found.iter().any(|standing| standing.place() == place), "{place:?}");
        }
        for standing in found {
            let may_be_kept = matches!(standing.place(), Place::Running | Place::Queued);
            assert!(may_be_kept || !standing.wake_kept, "{standing:?}");
        }
    }

    /// A wake-up of a living LWP queues it, or its next block, wherever it was put meanwhile, returns. Once.
    #[test]
    fn no_wake_up_is_lost_or_counted_twice() {
        for standing in reachable() {
            let (woken, wake) = standing.wake();
            match standing.place() {
                Place::Blocked => assert_eq!((woken.place(), wake), (Place::Queued, Wake::Queue)),
                Place::Nowhere => assert_eq!((woken, wake), (standing, Wake::Nothing)),
                Place::Running | Place::Queued => {
                    assert_eq!((woken.place(), wake), (standing.place(), Wake::Keep));
                    let (returned, block) = woken.put(Place::Queued).put(Place::Running).block(Fate::Open);
                    assert_eq!(block, Block::Return);
                    assert_eq!(returned.block(Fate::Open).1, Block::Sleep);
                }
            }
            assert_ne!(woken.wake().1, Wake::Queue, "queued twice");
        }
    }

    #[test]
    fn whose_fate_is_sealed_does_not_sleep() {
        for standing in reachable().into_iter().filter(|standing| standing.place() == Place::Running) {
            let (after, block) = standing.block(Fate::Sealed);
            assert_eq!((after.place(), block), (Place::Running, Block::Return));
        }
    }

    /// Only a wake-up ends a sleep, and the dispatcher puts nobody to sleep.
    #[test]
    fn sleep_has_its_own_ways() {
        for place in PLACES {
            assert!(!Place::Blocked.may_become(place) && !place.may_become(Place::Blocked), "{place:?}");
        }
    }
}
