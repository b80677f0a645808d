//! Lists of slots, linked through the slots themselves.
//!
//! Nothing is allocated: what a list needs in a slot is a [`Link`], which lies in what the slot stands for. A link
//! is in one list at a time. Its fields are atomics only so that they may lie in shared memory; whoever holds the
//! lock of the lists is alone with them.
//!
//! The lists are circular: the first slot's previous is the last, a lone slot is its own neighbour on both sides.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of an LWP's place in the kernel's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// The place of this number; `u32::MAX` is none.
    #[must_use]
    pub const fn new(number: u32) -> Slot {
        debug_assert!(number != NONE);
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

/// No slot, no list.
const NONE: u32 = u32::MAX;

/// What a list needs in each slot.
#[derive(Debug)]
pub struct Link {
    next: AtomicU32,
    previous: AtomicU32,
    /// The number of the list that it is in.
    list: AtomicU32,
}

impl Link {
    /// The link of a slot that is in no list.
    #[must_use]
    pub const fn new() -> Link {
        Link { next: AtomicU32::new(NONE), previous: AtomicU32::new(NONE), list: AtomicU32::new(NONE) }
    }

    /// Whether the slot is in a list; for the holder of the lists' lock.
    #[inline]
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.list.load(Relaxed) != NONE
    }

    fn next(&self) -> u32 {
        self.next.load(Relaxed)
    }

    fn previous(&self) -> u32 {
        self.previous.load(Relaxed)
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

/// `N` lists under one lock.
#[derive(Debug)]
pub(crate) struct Lists<const N: usize> {
    /// The first slot of each list, or `NONE`.
    heads: [u32; N],
}

impl<const N: usize> Lists<N> {
    pub(crate) const fn new() -> Lists<N> {
        Lists { heads: [NONE; N] }
    }

    #[inline]
    pub(crate) fn first(&self, list: usize) -> Option<Slot> {
        let head = self.heads[list];
        (head != NONE).then_some(Slot(head))
    }

    /// The slot behind `slot`, which is in a list; `None` behind the last.
    #[inline]
    pub(crate) fn next(&self, links: &impl Links, slot: Slot) -> Option<Slot> {
        let link = links.link(slot);
        let next = link.next();
        (next != self.heads[link.list.load(Relaxed) as usize]).then_some(Slot(next))
    }

    /// Puts `slot`, which is in no list, behind the last of `list`.
    #[inline]
    pub(crate) fn push_back(&mut self, links: &impl Links, slot: Slot, list: usize) {
        let link = links.link(slot);
        debug_assert!(!link.is_queued(), "a slot is in one list, once");
        link.list.store(list as u32, Relaxed);
        let head = &mut self.heads[list];
        if *head == NONE {
            *head = slot.0;
            link.next.store(slot.0, Relaxed);
            link.previous.store(slot.0, Relaxed);
            return;
        }
        let first = links.link(Slot(*head));
        let last = first.previous();
        link.next.store(*head, Relaxed);
        link.previous.store(last, Relaxed);
        links.link(Slot(last)).next.store(slot.0, Relaxed);
        first.previous.store(slot.0, Relaxed);
    }

    /// Puts `slot`, which is in no list, before the first of `list`: that is behind the last, and the circle begins
    /// one earlier.
    #[inline]
    pub(crate) fn push_front(&mut self, links: &impl Links, slot: Slot, list: usize) {
        self.push_back(links, slot, list);
        self.heads[list] = slot.0;
    }

    /// Puts `slot`, which is in no list, behind the last of `list`, and takes out the first, which is returned; `None`,
    /// and nothing is done, where the list is empty. In a circle that is to put one in the other's place, and to begin
    /// one later. Without a jump for the only one in a list: a turn takes the same time however many wait.
    #[inline]
    pub(crate) fn rotate(&mut self, links: &impl Links, slot: Slot, list: usize) -> Option<Slot> {
        let link = links.link(slot);
        debug_assert!(!link.is_queued(), "a slot is in one list, once");
        let first = self.first(list)?;
        let left = links.link(first);
        let instead = |neighbour: u32| if neighbour == first.0 { slot.0 } else { neighbour };
        let (next, previous) = (instead(left.next()), instead(left.previous()));
        links.link(Slot(previous)).next.store(slot.0, Relaxed);
        links.link(Slot(next)).previous.store(slot.0, Relaxed);
        link.next.store(next, Relaxed);
        link.previous.store(previous, Relaxed);
        link.list.store(list as u32, Relaxed);
        left.list.store(NONE, Relaxed);
        self.heads[list] = next;
        Some(first)
    }

    /// Takes the first out of `list`, if there is one.
    #[inline]
    pub(crate) fn pop_front(&mut self, links: &impl Links, list: usize) -> Option<Slot> {
        let first = self.first(list)?;
        self.unlink(links, first, list);
        Some(first)
    }

    /// Takes `slot` out of its list, whose number is returned; `None` if it is in none.
    #[inline]
    pub(crate) fn remove(&mut self, links: &impl Links, slot: Slot) -> Option<usize> {
        let list = links.link(slot).list.load(Relaxed);
        if list == NONE {
            return None;
        }
        self.unlink(links, slot, list as usize);
        Some(list as usize)
    }

    /// Takes `slot` out of `list`, in which it is.
    #[inline]
    pub(crate) fn unlink(&mut self, links: &impl Links, slot: Slot, list: usize) {
        let link = links.link(slot);
        debug_assert_eq!(
            link.list.load(Relaxed) as usize,
            list,
            "a slot is taken out of the list that it is in"
        );
        let head = &mut self.heads[list];
        let (next, previous) = (link.next(), link.previous());
        if next == slot.0 {
            *head = NONE;
        } else {
            links.link(Slot(previous)).next.store(next, Relaxed);
            links.link(Slot(next)).previous.store(previous, Relaxed);
            if *head == slot.0 {
                *head = next;
            }
        }
        link.list.store(NONE, Relaxed);
    }
}
