//! The instruments of semaphores, and the history of the arena.

use super::{Arena, Memory, Ticket};
use crate::sema::history::History;
use crate::sema::meter::{Debug, Meter};
use crate::sema::semaphore::Semaphore;
use crate::sema::word::Word;
use alloc::boxed::Box;
use syscalls::Errno;

impl Arena {
    /// Has a semaphore count, in `meter`, unless it does. ENOMEM: the arena is full.
    pub fn meter_on(&mut self, memory: &impl Memory, ticket: Ticket, meter: Box<Meter>) -> Result<(), Errno> {
        let has_room = self.budget.has_meter(&self.history);
        let Arena { semaphores, history, budget, .. } = self;
        let semaphore = semaphores.get_mut(ticket.index).ok_or(Errno::EINVAL)?;
        if semaphore.meter.is_some() {
            return Ok(());
        }
        if !has_room {
            return Err(Errno::ENOMEM);
        }
        budget.meters += 1;
        semaphore.start_meter(meter, &memory.head(semaphore.line).word, history);
        Ok(())
    }

    /// Has it count no more.
    pub fn meter_off(&mut self, ticket: Ticket) {
        let meter = self.semaphores.get_mut(ticket.index).and_then(|semaphore| semaphore.meter.take());
        if meter.is_some() {
            self.budget.meters -= 1;
        }
    }

    /// Has it count anew, if it counts.
    pub fn meter_reset(&mut self, memory: &impl Memory, ticket: Ticket) {
        self.change(memory, ticket, |semaphore, word, history| semaphore.reset_meter(word, history));
    }

    /// Has a semaphore keep who owns and who used it last, unless it does. ENOMEM: the arena is full.
    pub fn debug_on(&mut self, memory: &impl Memory, ticket: Ticket) -> Result<(), Errno> {
        if self.debug(ticket).is_ok() {
            return Ok(());
        }
        if !self.budget.has_debug(&self.history) {
            return Err(Errno::ENOMEM);
        }
        self.budget.debugs += 1;
        self.change(memory, ticket, |semaphore, word, history| {
            semaphore.set_debug(Some(Debug::default()), word, history);
        });
        Ok(())
    }

    /// Has it do so no more.
    pub fn debug_off(&mut self, memory: &impl Memory, ticket: Ticket) {
        if self.debug(ticket).is_ok() {
            self.budget.debugs -= 1;
            self.change(memory, ticket, |semaphore, word, history| semaphore.set_debug(None, word, history));
        }
    }

    /// Has it forget who they are, if it keeps that.
    pub fn debug_reset(&mut self, ticket: Ticket) {
        if let Some(debug) =
            self.semaphores.get_mut(ticket.index).and_then(|semaphore| semaphore.debug.as_mut())
        {
            *debug = Debug::default();
        }
    }

    /// Has operations on a semaphore recorded where the arena records, or not.
    pub fn keep_history(&mut self, memory: &impl Memory, ticket: Ticket, keeps_history: bool) {
        self.change(memory, ticket, |semaphore, word, history| {
            semaphore.keep_history(keeps_history, word, history);
        });
    }

    /// Lets a semaphore's owner acquire it again, or not. EINVAL: it is not for one owner, or not free.
    pub fn set_recursion(&mut self, memory: &impl Memory, ticket: Ticket, is_on: bool) -> Result<(), Errno> {
        let result = self
            .change(memory, ticket, |semaphore, word, history| semaphore.set_recursion(is_on, word, history));
        result.unwrap_or(Err(Errno::EINVAL))
    }

    fn change<T>(
        &mut self,
        memory: &impl Memory,
        ticket: Ticket,
        change: impl FnOnce(&mut Semaphore, &Word, &History) -> T,
    ) -> Option<T> {
        let Arena { semaphores, history, .. } = self;
        let semaphore = semaphores.get_mut(ticket.index)?;
        Some(change(semaphore, &memory.head(semaphore.line).word, history))
    }

    /// Has operations recorded from now on, or no more. Afterwards every semaphore is to [adapt](Arena::adapt).
    pub fn switch_history(&mut self, is_on: bool) {
        self.history.switch(is_on);
    }

    /// Has the semaphores from number `from` on, at most `most` of them, adapt to the history's being on or off. Returns
    /// where to go on, if there are more. (A semaphore that has not yet gone on as before: its records are missing, not
    /// wrong.)
    pub fn adapt(&mut self, memory: &impl Memory, from: u32, most: u32) -> Option<u32> {
        let end = self.semaphores.length().min(from.saturating_add(most));
        let Arena { semaphores, history, .. } = self;
        for index in from..end {
            if let Some(semaphore) = semaphores.get_mut(index) {
                semaphore.adapt(&memory.head(semaphore.line).word, history);
            }
        }
        (end < self.semaphores.length()).then_some(end)
    }

    /// Bounds the number of records; 0: by the arena's size.
    pub fn bound_history(&mut self, most: u64) {
        self.history.bound(most);
    }

    /// Empties the history.
    pub fn reset_history(&mut self) {
        self.history.reset();
    }
}
