//! One semaphore: every operation under the lock of its arena, as a function of its state.

mod acquire;
mod look;
mod note;
mod release;
mod switch;
mod terms;

use super::history::History;
use super::meter::{Debug, Meter};
use super::slab::Blank;
use super::waiter::{Queue, Waiters};
use super::word::{Seen, Word};
use crate::list::Slot;
use alloc::boxed::Box;

pub(in crate::sema) use terms::Scene;
pub use terms::{Acquire, Caller, Patience, Withdrawal};

/// Whether the owner may acquire it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recursion {
    Off,
    /// Nobody has it.
    Free,
    /// An LWP has it, so many times.
    Held {
        tid: u32,
        depth: u32,
    },
}

/// A semaphore, or the place of one that was freed.
#[derive(Debug)]
pub(in crate::sema) struct Semaphore {
    pub(in crate::sema) line: u32,
    /// Another value each time it is initialised; 0: it is freed.
    pub(in crate::sema) born: u64,
    /// The next freed place.
    pub(in crate::sema) next: u32,
    initial: u32,
    /// The count; while the word is open, that at its opening.
    tokens: u32,
    is_open: bool,
    keeps_history: bool,
    recursion: Recursion,
    queue: Queue,
    pub(in crate::sema) meter: Option<Box<Meter>>,
    pub(in crate::sema) debug: Option<Debug>,
}

impl Blank for Semaphore {
    const BLANK: Semaphore = Semaphore::freed(u32::MAX);
}

impl Semaphore {
    /// A freed place at `line`.
    pub(in crate::sema) const fn freed(line: u32) -> Semaphore {
        Semaphore {
            line,
            born: 0,
            next: u32::MAX,
            initial: 0,
            tokens: 0,
            is_open: false,
            keeps_history: false,
            recursion: Recursion::Off,
            queue: Queue::new(),
            meter: None,
            debug: None,
        }
    }

    /// Begins with `tokens`, without waiters.
    pub(in crate::sema) fn begin(
        &mut self,
        tokens: u32,
        born: u64,
        keeps_history: bool,
        word: &Word,
        history: &History,
    ) {
        debug_assert!(self.queue.is_empty());
        word.close(); // it may be any memory's
        *self = Semaphore { born, initial: tokens, tokens, keeps_history, ..Semaphore::freed(self.line) };
        self.settle(word, history);
    }

    /// Ends: nobody can use it any more. Its waiters are to be taken out by [`Semaphore::expel`].
    pub(in crate::sema) fn end(&mut self, word: &Word) {
        self.close(word);
        self.born = 0;
    }

    /// Takes out one waiter, whose P fails.
    pub(in crate::sema) fn expel(&mut self, waiters: &impl Waiters) -> Option<Slot> {
        let slot = self.queue.pop(waiters)?;
        waiters.waiter(slot).expel();
        Some(slot)
    }

    /// Sends user mode to the kernel, and takes over what it did meanwhile.
    #[inline]
    pub(in crate::sema) fn close(&mut self, word: &Word) {
        if !self.is_open {
            return;
        }
        let seen = word.close();
        if let Some(meter) = &mut self.meter
            && seen != (Seen { tokens: self.tokens, releases: 0 })
        {
            meter.add_seen(seen, self.tokens);
        }
        self.tokens = seen.tokens;
        self.is_open = false;
    }

    /// Lets user mode have the count, whose word is closed.
    #[inline]
    fn open(&mut self, word: &Word) {
        word.open(self.tokens);
        self.is_open = true;
    }

    /// Whether operations on it do more than count: its word stays closed then. (Where the arena's history was switched, and
    /// the semaphore has not adapted yet, it was open.)
    #[inline]
    pub(in crate::sema) fn is_watched(&self, history: &History) -> bool {
        self.debug.is_some() || self.recursion != Recursion::Off || self.keeps_history && history.is_on()
    }

    /// Opens the closed word where it is not watched, if nobody waits.
    #[inline]
    fn open_if_free(&mut self, word: &Word) {
        if self.queue.is_empty() {
            self.open(word);
        }
    }

    /// Opens the word, if nothing forbids it.
    #[inline]
    fn settle(&mut self, word: &Word, history: &History) {
        let needs_kernel = !self.queue.is_empty() || self.is_watched(history);
        if !needs_kernel && !self.is_open && self.born != 0 {
            self.open(word);
        }
    }
}
