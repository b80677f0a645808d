//! What an arena tells of its semaphores.

use super::{Arena, Memory, Status, Ticket};
use crate::sema::history::History;
use crate::sema::meter::{Debug, Reading, Waits};
use crate::sema::semaphore::Semaphore;
use crate::sema::word::Word;
use syscalls::Errno;

impl Arena {
    /// The count, or minus the number of waiters.
    #[inline]
    pub fn test(&self, memory: &impl Memory, ticket: Ticket) -> i32 {
        self.look(memory, ticket, |semaphore, word| semaphore.test(word)).unwrap_or(0)
    }

    /// The meter's figures. EINVAL: it is off.
    #[inline]
    pub fn reading(&self, memory: &impl Memory, ticket: Ticket) -> Result<Reading, Errno> {
        self.look(memory, ticket, Semaphore::reading).flatten().ok_or(Errno::EINVAL)
    }

    /// The meter's figures and the times of waits. EINVAL: it is off.
    pub fn waits(&self, memory: &impl Memory, ticket: Ticket) -> Result<(Reading, Waits), Errno> {
        let both = |semaphore: &Semaphore, word: &Word| {
            let waits = semaphore.meter.as_ref()?.waits().clone();
            Some((semaphore.reading(word)?, waits))
        };
        self.look(memory, ticket, both).flatten().ok_or(Errno::EINVAL)
    }

    /// The debug record. EINVAL: it is off.
    pub fn debug(&self, ticket: Ticket) -> Result<Debug, Errno> {
        self.semaphores.get(ticket.index).and_then(|semaphore| semaphore.debug).ok_or(Errno::EINVAL)
    }

    #[inline]
    fn look<T>(
        &self,
        memory: &impl Memory,
        ticket: Ticket,
        look: impl FnOnce(&Semaphore, &Word) -> T,
    ) -> Option<T> {
        let semaphore = self.semaphores.get(ticket.index)?;
        Some(look(semaphore, &memory.head(semaphore.line).word))
    }

    /// The first semaphore with at least this number, and its number.
    #[must_use]
    pub fn status_from(&self, memory: &impl Memory, from: u32) -> Option<(u32, Status)> {
        let is_live = |index: &u32| self.semaphores.get(*index).is_some_and(|semaphore| semaphore.born != 0);
        let index = (from..self.semaphores.length()).find(is_live)?;
        let semaphore = self.semaphores.get(index)?;
        let word = &memory.head(semaphore.line).word;
        let (waiting, initial, flags) = semaphore.traits();
        let waits = semaphore.meter.as_ref().map(|meter| meter.waits().clone());
        let status = Status {
            line: semaphore.line,
            tokens: semaphore.tokens_now(word),
            waiting,
            initial,
            flags,
            meter: semaphore.reading(word).zip(waits),
            debug: semaphore.debug,
        };
        Some((index, status))
    }

    /// The records.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }
}
