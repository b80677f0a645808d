//! An arena: what processes share, as far as the kernel answers for it.

mod budget;
mod head;
mod look;
mod operate;
mod places;
mod switch;

use super::heap::LINE;
use super::history::History;
use super::meter::{Debug, Reading, Waits};
use super::semaphore::Semaphore;
use super::slab::Slab;
use crate::clock::Rate;
use crate::sync::Ordering::Relaxed;
pub(in crate::sema) use budget::Budget;
use head::SEMAPHORE;
pub use head::{Head, Memory};
use syscalls::Errno;

/// Bytes before what `usmalloc` hands out.
const HEADER: u64 = 16;

/// A semaphore, as it was found once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    index: u32,
    born: u64,
}

/// What there is to know of a semaphore at one moment.
#[derive(Debug, Clone)]
pub struct Status {
    /// Its line.
    pub line: u32,
    /// Its count.
    pub tokens: u32,
    /// Who waits.
    pub waiting: u32,
    /// The count it began with.
    pub initial: u32,
    /// Which of [`syscalls::sema::flag`] are set.
    pub flags: u32,
    /// The meter, if it is on.
    pub meter: Option<(Reading, Waits)>,
    /// The debug record, if it is on.
    pub debug: Option<Debug>,
}

/// One arena. Its owner's lock guards it.
#[derive(Debug)]
pub struct Arena {
    budget: Budget,
    rate: Rate,
    semaphores: Slab<Semaphore>,
    live: u32,
    /// Freed places, the longest freed first.
    first_freed: u32,
    last_freed: u32,
    history: History,
    info: u64,
}

const NONE: u32 = u32::MAX;
impl Arena {
    /// An arena of `size` bytes, at least one line and at most 2^32 of them, of which nothing is used. Its time is told in
    /// ticks of a clock of this rate. ENOMEM.
    pub fn new(size: u64, rate: Rate) -> Result<Arena, Errno> {
        Ok(Arena {
            budget: Budget::new(size)?,
            rate,
            semaphores: Slab::new(),
            live: 0,
            first_freed: NONE,
            last_freed: NONE,
            history: History::new(),
            info: 0,
        })
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.budget.size
    }

    /// How much of it is used.
    #[must_use]
    #[inline]
    pub fn used(&self) -> u64 {
        self.budget.used(&self.history)
    }

    #[inline]
    fn has_room(&self, bytes: u64) -> bool {
        self.budget.has_room(&self.history, bytes)
    }

    /// How many semaphores there are.
    #[must_use]
    pub fn semaphores(&self) -> u32 {
        self.live
    }

    /// The published word.
    #[must_use]
    pub fn info(&self) -> u64 {
        self.info
    }

    /// Publishes `new`; where an old word is given, only if that is what is published. Whether it did.
    pub fn publish(&mut self, expected: Option<u64>, new: u64) -> bool {
        let does = expected.is_none_or(|expected| expected == self.info);
        if does {
            self.info = new;
        }
        does
    }

    /// Takes memory for `length` bytes, aligned to 16, and returns its offset. ENOMEM.
    pub fn allocate(&mut self, memory: &impl Memory, length: u64) -> Result<u64, Errno> {
        let lines = length.checked_add(HEADER).ok_or(Errno::ENOMEM)?.div_ceil(LINE);
        if lines > self.budget.size / LINE || !self.has_room(lines * LINE) {
            return Err(Errno::ENOMEM);
        }
        let taken = self.budget.heap.take(lines as u32)?;
        memory.head(taken.start).hint.store(taken.number, Relaxed);
        Ok(u64::from(taken.start) * LINE + HEADER)
    }

    /// Gives back the memory at an offset. EINVAL: it is not allocated.
    pub fn give_back(&mut self, memory: &impl Memory, offset: u64) -> Result<(), Errno> {
        if offset >= self.budget.size || offset % LINE != HEADER {
            return Err(Errno::EINVAL);
        }
        let line = (offset / LINE) as u32;
        self.budget.heap.give_back(memory.head(line).hint.load(Relaxed), line)
    }
}
