//! Which locks a CPU holds, so that debug builds can say at once when the order is broken.

use super::Rank;
use core::cell::Cell;

const DEEPEST: usize = 8;

/// The ranks of the locks that one CPU holds, in the order of taking. In release builds it keeps nothing.
pub(crate) struct HeldLocks {
    ranks: [Cell<Option<Rank>>; DEEPEST],
    depth: Cell<usize>,
}

impl HeldLocks {
    pub(crate) const fn new() -> Self {
        HeldLocks { ranks: [const { Cell::new(None) }; DEEPEST], depth: Cell::new(0) }
    }

    /// A lock of `rank` is about to be taken.
    #[inline]
    pub(super) fn push(&self, rank: Rank) {
        if cfg!(debug_assertions) {
            let depth = self.depth.get();
            if let Some(last) = depth.checked_sub(1).and_then(|top| self.ranks[top].get()) {
                assert!(last < rank, "lock order: {rank:?} taken while {last:?} is held");
            }
            self.ranks[depth].set(Some(rank));
            self.depth.set(depth + 1);
        }
    }

    /// The lock of `rank` is released; not always the last one taken.
    #[inline]
    pub(super) fn pop(&self, rank: Rank) {
        if cfg!(debug_assertions) {
            let depth = self.depth.get();
            let held = &self.ranks[..depth];
            let at = held
                .iter()
                .rposition(|each| each.get() == Some(rank))
                .expect("a lock that is held is released");
            for index in at..depth - 1 {
                held[index].set(held[index + 1].get());
            }
            self.depth.set(depth - 1);
        }
    }

    /// Nothing may be held for `purpose`.
    #[inline]
    pub(crate) fn assert_none(&self, purpose: &str) {
        if cfg!(debug_assertions) && self.depth.get() != 0 {
            panic!("{purpose} while {:?} is held", self.ranks[self.depth.get() - 1].get());
        }
    }

    /// Exactly one lock, of `rank`, is held: the state before a switch.
    #[inline]
    pub(crate) fn assert_only(&self, rank: Rank) {
        debug_assert!(
            self.depth.get() == 1 && self.ranks[0].get() == Some(rank),
            "a switch holds one lock only"
        );
    }
}
