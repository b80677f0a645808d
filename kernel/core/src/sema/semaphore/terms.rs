//! What operations are given, and what they answer.

use crate::clock::Rate;
use crate::list::Slot;
use crate::sema::arena::Budget;
use crate::sema::history::History;
use crate::sema::meter::User;
use crate::sema::word::Word;

/// What an operation needs besides the semaphore.
pub(in crate::sema) struct Scene<'a, W, N> {
    /// The semaphore's word.
    pub(in crate::sema) word: &'a Word,
    /// Who may wait.
    pub(in crate::sema) waiters: &'a W,
    /// The arena's history.
    pub(in crate::sema) history: &'a mut History,
    /// What else the arena's memory is used for.
    pub(in crate::sema) budget: &'a Budget,
    /// What a time in ticks is in nanoseconds.
    pub(in crate::sema) rate: &'a Rate,
    /// The time in ticks; asked for only where it is needed.
    pub(in crate::sema) now: N,
}

/// Who operates, and where in its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The LWP's slot.
    pub slot: Slot,
    /// The LWP's process.
    pub pid: u32,
    /// The LWP.
    pub tid: u32,
    /// The address to which the library's call returns.
    pub pc: u64,
}

impl Caller {
    pub(super) const fn user(&self) -> User {
        User { pid: self.pid, pc: self.pc }
    }
}

/// How long a P waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until it has a token, or the caller withdraws it.
    Wait,
    /// Not at all: it is conditional.
    None,
    /// Its time is over before it began.
    ZeroTime,
}

/// What became of a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Acquire {
    /// It has a token.
    Hit,
    /// The caller waits: it blocks until its waiter has another [`crate::sema::Fate`].
    Queued,
    /// It has none.
    Missed,
}

/// Why a waiter withdraws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// Its time is over.
    TimedOut,
    /// It is to end.
    Killed,
}
