//! The run queue: a list for each priority, and a bit for each list that is not empty.

use crate::list::{Links, Lists, Slot};

/// How urgent an LWP is: 0…63, more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// How many there are.
    pub const COUNT: usize = 64;

    /// The best: that of an LWP whose turn it is.
    pub const TURN: Priority = Priority(Self::COUNT as u8 - 1);

    /// The priority of this number; what is above the best is the best.
    #[must_use]
    pub const fn new(number: u8) -> Priority {
        Priority(if (number as usize) < Self::COUNT { number } else { Self::COUNT as u8 - 1 })
    }

    /// Its number.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// One better, if so; of a priority that is not the best.
    #[inline]
    #[must_use]
    pub const fn raised(self, is_raised: bool) -> Priority {
        debug_assert!(self.0 < Self::TURN.0);
        Priority(self.0 + is_raised as u8)
    }

    /// The number of its list. The remainder changes nothing, but shows that the number is in range.
    const fn index(self) -> usize {
        self.0 as usize % Self::COUNT
    }
}

/// Slots that wait for a CPU, the best priority first and within it the longest waiting.
#[derive(Debug)]
pub struct RunQueue {
    /// Bit n: somebody waits at priority n.
    waiting: u64,
    lists: Lists<{ Priority::COUNT }>,
    length: usize,
}

impl RunQueue {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> RunQueue {
        RunQueue { waiting: 0, lists: Lists::new(), length: 0 }
    }

    /// How many wait.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether nobody waits.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Who is next, and its priority.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Slot, Priority)> {
        let best = Priority(self.waiting.checked_ilog2()? as u8);
        Some((self.lists.first(best.index())?, best))
    }

    /// The first of those who wait below `priority`, and its priority.
    #[inline]
    #[must_use]
    pub fn first_below(&self, priority: Priority) -> Option<(Slot, Priority)> {
        let below = self.waiting & ((1 << priority.index()) - 1);
        let best = Priority(below.checked_ilog2()? as u8);
        Some((self.lists.first(best.index())?, best))
    }

    /// All who wait, the best priority first, each priority in its order.
    pub fn iter<L: Links>(&self, links: &L) -> impl Iterator<Item = Slot> {
        let levels = (0..u64::BITS).rev().filter(|level| self.waiting >> level & 1 != 0);
        levels.flat_map(|level| {
            core::iter::successors(self.lists.first(level as usize), |&slot| self.lists.next(links, slot))
        })
    }

    /// `slot`, which is in no queue, waits behind all of its priority.
    #[inline]
    pub fn push_back(&mut self, links: &impl Links, slot: Slot, priority: Priority) {
        self.lists.push_back(links, slot, priority.index());
        self.count_in(priority);
    }

    /// `slot`, which is in no queue, waits before all of its priority.
    #[inline]
    pub fn push_front(&mut self, links: &impl Links, slot: Slot, priority: Priority) {
        self.lists.push_front(links, slot, priority.index());
        self.count_in(priority);
    }

    /// Takes out who is next.
    #[inline]
    pub fn pop(&mut self, links: &impl Links) -> Option<Slot> {
        let best = self.waiting.checked_ilog2()? as usize;
        let slot = self.lists.pop_front(links, best)?;
        self.count_out(best);
        Some(slot)
    }

    /// Takes out who is next, and `slot`, which is in no queue, waits behind all of its priority. None, and nothing is
    /// done, where nobody waits.
    #[inline]
    pub fn exchange(&mut self, links: &impl Links, slot: Slot, priority: Priority) -> Option<Slot> {
        let (next, best) = self.first()?;
        if best == priority {
            return self.lists.rotate(links, slot, priority.index());
        }
        self.remove(links, next);
        self.push_back(links, slot, priority);
        Some(next)
    }

    /// Takes out `slot`, which waits in this queue if in any; says whether it did.
    #[inline]
    pub fn remove(&mut self, links: &impl Links, slot: Slot) -> bool {
        let list = self.lists.remove(links, slot);
        list.is_some_and(|list| {
            self.count_out(list);
            true
        })
    }

    fn count_in(&mut self, priority: Priority) {
        self.waiting |= 1 << priority.index();
        self.length += 1;
    }

    /// One that waited in `list` is out of it.
    fn count_out(&mut self, list: usize) {
        if self.lists.first(list).is_none() {
            self.waiting &= !(1 << list);
        }
        self.length -= 1;
    }
}

impl Default for RunQueue {
    fn default() -> RunQueue {
        RunQueue::new()
    }
}
