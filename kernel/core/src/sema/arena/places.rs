//! Where semaphores are, from their beginning to their end.

use super::{Arena, LINE, Memory, NONE, SEMAPHORE, Ticket};
use crate::list::Slot;
use crate::sema::semaphore::Semaphore;
use crate::sema::slab::Blank;
use crate::sema::waiter::Waiters;
use crate::sync::Ordering::Relaxed;
use syscalls::Errno;

impl Arena {
    /// A new semaphore with `tokens`, at most [`syscalls::sema::MOST_TOKENS`]; its line is returned. A place that one
    /// was freed from is used only where there is no other. `born` is not 0, and another each time. ENOMEM.
    pub fn new_semaphore(&mut self, memory: &impl Memory, tokens: u32, born: u64) -> Result<u32, Errno> {
        let index = self.fresh_place(memory).or_else(|errno| self.freed_place().ok_or(errno))?;
        self.live += 1;
        let Arena { semaphores, history, .. } = self;
        let semaphore = semaphores.get_mut(index).ok_or(Errno::ENOMEM)?;
        semaphore.begin(tokens, born, history.is_on(), &memory.head(semaphore.line).word, history);
        Ok(semaphore.line)
    }

    fn fresh_place(&mut self, memory: &impl Memory) -> Result<u32, Errno> {
        if !self.has_room(LINE) {
            return Err(Errno::ENOMEM);
        }
        let index = self.semaphores.push(Semaphore::BLANK)?;
        let line = match self.budget.heap.keep() {
            Ok(line) => line,
            Err(errno) => {
                self.semaphores.pop();
                return Err(errno);
            }
        };
        if let Some(semaphore) = self.semaphores.get_mut(index) {
            semaphore.line = line;
        }
        memory.head(line).hint.store(index | SEMAPHORE, Relaxed);
        Ok(index)
    }

    fn freed_place(&mut self) -> Option<u32> {
        let index = self.first_freed;
        self.first_freed = self.semaphores.get(index)?.next;
        if self.first_freed == NONE {
            self.last_freed = NONE;
        }
        Some(index)
    }

    /// The semaphore at an offset. EINVAL: there is none.
    #[inline]
    pub fn find(&self, memory: &impl Memory, offset: u64) -> Result<Ticket, Errno> {
        if offset >= self.budget.size || !offset.is_multiple_of(LINE) {
            return Err(Errno::EINVAL);
        }
        let line = (offset / LINE) as u32;
        let index = memory.head(line).hint.load(Relaxed) & !SEMAPHORE;
        match self.semaphores.get(index) {
            Some(semaphore) if semaphore.line == line && semaphore.born != 0 => {
                Ok(Ticket { index, born: semaphore.born })
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// Ends a semaphore: from now on it cannot be found. Whoever waits is to be taken out by [`Arena::expel`] before the
    /// lock is released, and then the place goes to [`Arena::bury`] or [`Arena::begin_again`].
    pub fn end(&mut self, memory: &impl Memory, ticket: Ticket) {
        let Some(semaphore) = self.semaphores.get_mut(ticket.index) else { return };
        semaphore.end(&memory.head(semaphore.line).word);
        if semaphore.meter.take().is_some() {
            self.budget.meters -= 1;
        }
        if semaphore.debug.take().is_some() {
            self.budget.debugs -= 1;
        }
    }

    /// Takes one waiter of an ended semaphore out, to be woken.
    pub fn expel(&mut self, waiters: &impl Waiters, ticket: Ticket) -> Option<Slot> {
        self.semaphores.get_mut(ticket.index)?.expel(waiters)
    }

    /// Keeps the place of an ended semaphore, without waiters, for later.
    pub fn bury(&mut self, ticket: Ticket) {
        self.live -= 1;
        match self.semaphores.get_mut(self.last_freed) {
            Some(last) => last.next = ticket.index,
            None => self.first_freed = ticket.index,
        }
        self.last_freed = ticket.index;
        if let Some(semaphore) = self.semaphores.get_mut(ticket.index) {
            semaphore.next = NONE;
        }
    }

    /// Makes an ended semaphore, without waiters, a new one in the same place.
    pub fn begin_again(&mut self, memory: &impl Memory, ticket: Ticket, tokens: u32, born: u64) {
        let Arena { semaphores, history, .. } = self;
        let Some(semaphore) = semaphores.get_mut(ticket.index) else { return };
        semaphore.begin(tokens, born, history.is_on(), &memory.head(semaphore.line).word, history);
    }
}
