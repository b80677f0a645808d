//! The run queue.
//!
//! One circular list per priority, linked through the slots themselves, and a bit for each list that is not empty.
//! The links are atomics only so that they may lie in shared memory; who holds the queue's lock is alone with them.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of an LWP's place in the kernel's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// The place of this number.
    #[must_use]
    pub const fn new(number: u32) -> Slot {
        Slot(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number, as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How urgent an LWP is: 0…63, more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// How many there are.
    pub const COUNT: usize = 64;

    /// The priority of this number; what is above the best is the best.
    #[must_use]
    pub const fn new(number: u8) -> Priority {
        Priority(if (number as usize) < Self::COUNT { number } else { Self::COUNT as u8 - 1 })
    }

    const fn index(self) -> usize {
        self.0 as usize % Self::COUNT
    }
}

/// What a queue keeps in each slot.
#[derive(Debug)]
pub struct Link {
    next: AtomicU32,
    previous: AtomicU32,
    /// The priority it is queued with, or `NOT_QUEUED`.
    queued: AtomicU32,
}

const NOT_QUEUED: u32 = u32::MAX;

impl Link {
    /// The link of a slot that is in no queue.
    #[must_use]
    pub const fn new() -> Link {
        Link { next: AtomicU32::new(0), previous: AtomicU32::new(0), queued: AtomicU32::new(NOT_QUEUED) }
    }

    /// Whether the slot is in a queue; for the holder of that queue's lock.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.queued.load(Relaxed) != NOT_QUEUED
    }
}

impl Default for Link {
    fn default() -> Link {
        Link::new()
    }
}

/// Where the slots' links are: the same link for the same slot, always.
pub trait Links {
    /// The link of `slot`.
    fn link(&self, slot: Slot) -> &Link;
}

/// Slots that wait for a CPU, the best priority first and within it the longest waiting.
#[derive(Debug)]
pub struct RunQueue {
    /// Bit n: somebody waits at priority n.
    waiting: u64,
    /// The first slot of each list that is not empty.
    heads: [u32; Priority::COUNT],
    length: u32,
}

impl RunQueue {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> RunQueue {
        RunQueue { waiting: 0, heads: [0; Priority::COUNT], length: 0 }
    }

    /// How many wait.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length as usize
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
        let best = self.waiting.checked_ilog2()? as u8;
        Some((Slot(self.heads[best as usize]), Priority(best)))
    }

    /// `slot`, which is in no queue, waits behind all of its priority.
    #[inline]
    pub fn push_back(&mut self, links: &impl Links, slot: Slot, priority: Priority) {
        let link = links.link(slot);
        debug_assert!(!link.is_queued(), "a slot waits in one queue, once");
        let head = &mut self.heads[priority.index()];
        if self.waiting & 1 << priority.0 == 0 {
            *head = slot.0;
        }
        // Behind the last is before the first; alone, it is its own neighbour on both sides.
        let first = links.link(Slot(*head));
        let last = if *head == slot.0 { slot.0 } else { first.previous.load(Relaxed) };
        link.next.store(*head, Relaxed);
        link.previous.store(last, Relaxed);
        links.link(Slot(last)).next.store(slot.0, Relaxed);
        first.previous.store(slot.0, Relaxed);
        link.queued.store(u32::from(priority.0), Relaxed);
        self.waiting |= 1 << priority.0;
        self.length += 1;
    }

    /// `slot`, which is in no queue, waits before all of its priority.
    #[inline]
    pub fn push_front(&mut self, links: &impl Links, slot: Slot, priority: Priority) {
        self.push_back(links, slot, priority);
        self.heads[priority.index()] = slot.0;
    }

    /// Takes out who is next.
    #[inline]
    pub fn pop(&mut self, links: &impl Links) -> Option<Slot> {
        let (slot, _) = self.first()?;
        self.remove(links, slot);
        Some(slot)
    }

    /// Takes out `slot`, which waits in this queue.
    #[inline]
    pub fn remove(&mut self, links: &impl Links, slot: Slot) {
        let link = links.link(slot);
        debug_assert!(link.is_queued(), "not in a queue");
        let priority = Priority(link.queued.load(Relaxed) as u8);
        let (next, previous) = (link.next.load(Relaxed), link.previous.load(Relaxed));
        let head = &mut self.heads[priority.index()];
        if next == slot.0 {
            self.waiting &= !(1 << priority.index());
        } else {
            links.link(Slot(previous)).next.store(next, Relaxed);
            links.link(Slot(next)).previous.store(previous, Relaxed);
            if *head == slot.0 {
                *head = next;
            }
        }
        link.queued.store(NOT_QUEUED, Relaxed);
        self.length -= 1;
    }
}

impl Default for RunQueue {
    fn default() -> RunQueue {
        RunQueue::new()
    }
}
