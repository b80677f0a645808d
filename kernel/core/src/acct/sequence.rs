//! The sequence number of a ledger: even at rest, odd while it is written.

use crate::sync::{AtomicU64, Ordering, const_fn, fence};

/// A ledger's sequence number. Writers exclude each other by other means; readers never wait for one another.
#[derive(Debug)]
pub(super) struct Sequence(AtomicU64);

/// A writer was at work: the reading does not count.
pub(super) struct Torn;

/// A reader's first look.
pub(super) struct Window<'a> {
    sequence: &'a Sequence,
    seen: u64,
}

impl Sequence {
    const_fn! {
        /// At rest, never written.
        pub(super) fn new() -> Sequence {
            Sequence(AtomicU64::new(0))
        }
    }

    /// Opens the writer's window. The odd number, and every store before, is visible to all CPUs when this returns:
    /// a stamp taken afterwards is not before that of any reader that gets away with the old figures.
    #[inline]
    pub(super) fn open(&self) {
        let before = self.0.fetch_add(1, Ordering::SeqCst);
        debug_assert!(before.is_multiple_of(2), "two writers of one ledger");
        // No instruction on x86-64: figures stored from here on are not seen without the odd number.
        fence(Ordering::Release);
    }

    /// Opens the window of a second ledger, whose writer then calls [`Sequence::open`] on the first: one barrier
    /// serves both.
    #[inline]
    pub(super) fn open_ahead(&self) {
        let before = self.0.load(Ordering::Relaxed);
        debug_assert!(before.is_multiple_of(2), "two writers of one ledger");
        self.0.store(before.wrapping_add(1), Ordering::Relaxed);
    }

    /// Closes the writer's window.
    #[inline]
    pub(super) fn close(&self) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Whether it was ever written; for a ledger's own writer, or inside a reader's window.
    #[inline]
    pub(super) fn ever_written(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Opens a reader's window.
    #[inline]
    pub(super) fn look(&self) -> Result<Window<'_>, Torn> {
        let seen = self.0.load(Ordering::Acquire);
        if seen.is_multiple_of(2) { Ok(Window { sequence: self, seen }) } else { Err(Torn) }
    }
}

impl Window<'_> {
    /// Closes the reader's window: what was read inside it belongs together.
    #[inline]
    pub(super) fn look_again(self) -> Result<(), Torn> {
        fence(Ordering::Acquire);
        if self.sequence.0.load(Ordering::Relaxed) == self.seen { Ok(()) } else { Err(Torn) }
    }
}
