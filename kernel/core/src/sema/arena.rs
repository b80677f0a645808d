//! An arena: what processes share, as far as the kernel answers for it.

use super::heap::{Heap, LINE};
use super::history::History;
use super::meter::{Debug, Got, Meter, Reading, Waits};
use super::semaphore::{Acquire, Caller, Patience, Scene, Semaphore, Withdrawal};
use super::slab::Slab;
use super::waiter::Waiters;
use super::word::Word;
use crate::list::Slot;
use crate::sync::{AtomicU32, Ordering::Relaxed, const_fn};
use alloc::boxed::Box;
use syscalls::Errno;

/// What the arena's size is charged with for a record of its history, a meter and a debug record.
const RECORD: u64 = 64;
const METER: u64 = 192;
const DEBUG: u64 = 32;

/// Bytes before what `usmalloc` hands out.
const HEADER: u64 = 16;

/// A hint at the head of a semaphore's line, not of a block's.
const SEMAPHORE: u32 = 1 << 31;

/// The head of a semaphore's line, or of a block's, in the arena's memory.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Head {
    word: Word,
    /// Which semaphore or block this is, if that one agrees.
    hint: AtomicU32,
}

impl Head {
    const_fn! {
        /// Of nothing.
        pub fn new() -> Head {
            Head { word: Word::new(), hint: AtomicU32::new(0) }
        }
    }

    /// The semaphore's word, if it is a semaphore's line.
    #[must_use]
    pub fn word(&self) -> &Word {
        &self.word
    }

    #[cfg(all(test, not(feature = "loom")))]
    pub(super) fn set_hint(&self, hint: u32) {
        self.hint.store(hint, Relaxed);
    }
}

/// The memory that an arena shares with programs. They may write there what they like.
pub trait Memory {
    /// What lies at the beginning of a line of the arena: always the same.
    fn head(&self, line: u32) -> &Head;
}

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
    size: u64,
    heap: Heap,
    /// Bytes that meters and debug records take.
    charged: u64,
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
    /// An arena of `size` bytes, at least one line and at most 2^32 of them, of which nothing is used. ENOMEM.
    pub fn new(size: u64) -> Result<Arena, Errno> {
        Ok(Arena {
            size,
            heap: Heap::new((size / LINE) as u32)?,
            charged: 0,
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
        self.size
    }

    /// How much of it is used.
    #[must_use]
    #[inline]
    pub fn used(&self) -> u64 {
        u64::from(self.heap.taken()) * LINE + self.charged + self.history.length() * RECORD
    }

    #[inline]
    fn has_room(&self, bytes: u64) -> bool {
        self.used() + bytes <= self.size
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
        if lines > self.size / LINE || !self.has_room(lines * LINE) {
            return Err(Errno::ENOMEM);
        }
        let taken = self.heap.take(lines as u32)?;
        memory.head(taken.start).hint.store(taken.number, Relaxed);
        Ok(u64::from(taken.start) * LINE + HEADER)
    }

    /// Gives back the memory at an offset. EINVAL: it is not allocated.
    pub fn give_back(&mut self, memory: &impl Memory, offset: u64) -> Result<(), Errno> {
        if offset >= self.size || offset % LINE != HEADER {
            return Err(Errno::EINVAL);
        }
        let line = (offset / LINE) as u32;
        self.heap.give_back(memory.head(line).hint.load(Relaxed), line)
    }

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
        let index = self.semaphores.push(Semaphore::freed(NONE))?;
        let line = match self.heap.keep() {
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
        if offset >= self.size || !offset.is_multiple_of(LINE) {
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
        self.charged -= if semaphore.meter.take().is_some() { METER } else { 0 };
        self.charged -= if semaphore.debug.take().is_some() { DEBUG } else { 0 };
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

    /// The semaphore of a ticket and what operations on it need; EINVAL: it is no more.
    #[inline]
    fn scene<'a, M: Memory, W, N>(
        &'a mut self,
        memory: &'a M,
        waiters: &'a W,
        ticket: Ticket,
        now: N,
    ) -> Result<(&'a mut Semaphore, Scene<'a, W, N>), Errno> {
        let may_grow = self.has_room(RECORD);
        let Arena { semaphores, history, .. } = self;
        match semaphores.get_mut(ticket.index) {
            Some(semaphore) if semaphore.born == ticket.born => {
                let word = &memory.head(semaphore.line).word;
                Ok((semaphore, Scene { word, waiters, history, may_grow, now }))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// P. EINVAL: the semaphore is no more; EOVERFLOW: its owner has it too many times.
    #[inline]
    pub fn acquire(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: &Caller,
        patience: Patience,
        now: impl Fn() -> u64,
    ) -> Result<Acquire, Errno> {
        let (semaphore, mut scene) = self.scene(memory, waiters, ticket, now)?;
        semaphore.acquire(&mut scene, caller, patience)
    }

    /// V; returns who is to be woken. EINVAL: the semaphore is no more; EPERM: it is recursive and another's; EOVERFLOW:
    /// there are too many tokens.
    #[inline]
    pub fn release(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: &Caller,
        now: impl Fn() -> u64,
    ) -> Result<Option<Slot>, Errno> {
        let (semaphore, mut scene) = self.scene(memory, waiters, ticket, now)?;
        semaphore.release(&mut scene, caller)
    }

    /// A waiter that was given a token runs with it.
    #[inline]
    pub fn woke(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: &Caller,
        now: impl Fn() -> u64,
    ) {
        if let Ok((semaphore, mut scene)) = self.scene(memory, waiters, ticket, now)
            && semaphore.keeps_wakes(scene.history)
        {
            semaphore.woke(&mut scene, caller);
        }
    }

    /// A waiter gives up; false: it waits no longer.
    pub fn withdraw(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        caller: &Caller,
        why: Withdrawal,
        now: impl Fn() -> u64,
    ) -> bool {
        self.scene(memory, waiters, ticket, now)
            .is_ok_and(|(semaphore, mut scene)| semaphore.withdraw(&mut scene, caller, why))
    }

    /// The LWP `tid` ends before its P has returned: its token goes to the next, who is returned to be woken.
    pub fn pass_on(
        &mut self,
        memory: &impl Memory,
        waiters: &impl Waiters,
        ticket: Ticket,
        tid: u32,
        got: Got,
        now: impl Fn() -> u64,
    ) -> Option<Slot> {
        let (semaphore, mut scene) = self.scene(memory, waiters, ticket, now).ok()?;
        semaphore.pass_on(&mut scene, tid, got)
    }

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

    /// Has a semaphore count, in `meter`, unless it does. ENOMEM: the arena is full.
    pub fn meter_on(&mut self, memory: &impl Memory, ticket: Ticket, meter: Box<Meter>) -> Result<(), Errno> {
        let has_room = self.has_room(METER);
        let Arena { semaphores, history, charged, .. } = self;
        let semaphore = semaphores.get_mut(ticket.index).ok_or(Errno::EINVAL)?;
        if semaphore.meter.is_some() {
            return Ok(());
        }
        if !has_room {
            return Err(Errno::ENOMEM);
        }
        *charged += METER;
        semaphore.start_meter(meter, &memory.head(semaphore.line).word, history);
        Ok(())
    }

    /// Has it count no more.
    pub fn meter_off(&mut self, ticket: Ticket) {
        let meter = self.semaphores.get_mut(ticket.index).and_then(|semaphore| semaphore.meter.take());
        if meter.is_some() {
            self.charged -= METER;
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
        if !self.has_room(DEBUG) {
            return Err(Errno::ENOMEM);
        }
        self.charged += DEBUG;
        self.change(memory, ticket, |semaphore, word, history| {
            semaphore.set_debug(Some(Debug::default()), word, history);
        });
        Ok(())
    }

    /// Has it do so no more.
    pub fn debug_off(&mut self, memory: &impl Memory, ticket: Ticket) {
        if self.debug(ticket).is_ok() {
            self.charged -= DEBUG;
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

    /// The records.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
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
}
