//! Process and LWP ids: one number space, 1…131 071, handed out in rising order and around again.
//!
//! An id is in use from [`IdAllocator::allocate`] to [`IdAllocator::free`]; meanwhile it may or may not name a slot:
//! a process that waits to be reaped keeps its id, though the LWP of that id is gone. [`Ids`], the table from id to
//! slot, has two levels, so that it grows with the highest id handed out; its leaves are the caller's, found
//! through [`Leaves`]. Looking up takes no lock: a few instructions, two loads.
//!
//! A lookup may be overtaken by the end of what it found. Whoever needs certainty compares the id that is kept in
//! the slot, as [`crate::acct::read_lwp`] does.

use crate::sched::Slot;
use crate::sync::{AtomicU32, Ordering};
use syscalls::Errno;

/// How many ids there are; id 0 is never used.
pub const COUNT: usize = 1 << 17;

/// Ids in a leaf, which is a page; few where loom keeps the history of each.
const LEAF: usize = if cfg!(feature = "loom") { 4 } else { 1024 };

/// How many leaves a full table has.
pub const LEAVES: usize = COUNT / LEAF;

const FREE: u32 = 0;
/// In use, without a slot.
const HELD: u32 = 1;
/// Slot n is written as n + 2.
const FIRST_SLOT: u32 = 2;

/// As many ids as a page has room for, from a multiple of that on.
#[derive(Debug)]
#[cfg_attr(not(feature = "loom"), repr(align(4096)))]
pub struct Leaf([AtomicU32; LEAF]);

impl Leaf {
    /// A leaf of free ids. All bytes are zero.
    #[cfg(not(feature = "loom"))]
    #[must_use]
    pub const fn new() -> Leaf {
        Leaf([const { AtomicU32::new(FREE) }; LEAF])
    }

    /// A leaf of free ids.
    #[cfg(feature = "loom")]
    #[must_use]
    pub fn new() -> Leaf {
        Leaf(core::array::from_fn(|_| AtomicU32::new(FREE)))
    }
}

impl Default for Leaf {
    fn default() -> Leaf {
        Leaf::new()
    }
}

/// Where a table's leaves are kept.
pub trait Leaves {
    /// Leaf `index` (below [`LEAVES`]), if it was added. Once there, it stays.
    fn leaf(&self, index: usize) -> Option<&Leaf>;

    /// Adds leaf `index`, which is not there, as [`Leaf::new`] makes it; ENOMEM where that fails.
    fn add(&self, index: usize) -> Result<&Leaf, Errno>;
}

/// The table from ids to slots.
#[derive(Debug)]
pub struct Ids<L>(L);

impl<L: Leaves> Ids<L> {
    /// A table over `leaves`.
    #[must_use]
    pub const fn new(leaves: L) -> Ids<L> {
        Ids(leaves)
    }

    /// The slot that `id` names; `None` for any number that is no id, not in use, or without a slot.
    #[inline]
    pub fn lookup(&self, id: u32) -> Option<Slot> {
        // Pairs with the release in `set`: what was written to the slot before is seen.
        let entry = self.entry(id)?.load(Ordering::Acquire);
        entry.checked_sub(FIRST_SLOT).map(Slot::new)
    }

    /// Lets `id`, which is in use, name `slot`. The slot is ready to be found.
    pub fn set(&self, id: u32, slot: Slot) {
        self.change(id, slot.number() + FIRST_SLOT);
    }

    /// Lets `id`, which stays in use, name no slot.
    pub fn clear(&self, id: u32) {
        self.change(id, HELD);
    }

    fn change(&self, id: u32, value: u32) {
        let entry = self.entry(id);
        debug_assert!(
            entry.is_some_and(|entry| entry.load(Ordering::Relaxed) != FREE),
            "id {id} is not in use"
        );
        if let Some(entry) = entry {
            entry.store(value, Ordering::Release);
        }
    }

    #[inline]
    fn entry(&self, id: u32) -> Option<&AtomicU32> {
        let id = id as usize;
        if id >= COUNT {
            return None;
        }
        Some(&self.0.leaf(id / LEAF)?.0[id % LEAF])
    }
}

/// Who hands out ids. One for one table, inside a lock.
#[derive(Debug)]
pub struct IdAllocator {
    next: usize,
    used: usize,
}

impl IdAllocator {
    /// The first id that it gives is 1.
    #[must_use]
    pub const fn new() -> IdAllocator {
        IdAllocator { next: 1, used: 0 }
    }

    /// Takes the next free id, which names no slot yet. EAGAIN: all are in use; ENOMEM: no leaf could be added.
    pub fn allocate<L: Leaves>(&mut self, ids: &Ids<L>) -> Result<u32, Errno> {
        if self.used == COUNT - 1 {
            return Err(Errno::EAGAIN);
        }
        loop {
            let id = self.next;
            let leaf = match ids.0.leaf(id / LEAF) {
                Some(leaf) => leaf,
                None => ids.0.add(id / LEAF)?,
            };
            self.next = if id + 1 == COUNT { 1 } else { id + 1 };
            let entry = &leaf.0[id % LEAF];
            if entry.load(Ordering::Relaxed) == FREE {
                entry.store(HELD, Ordering::Relaxed);
                self.used += 1;
                return Ok(id as u32);
            }
        }
    }

    /// Gives back `id`, which is in use and which nothing refers to any more.
    pub fn free<L: Leaves>(&mut self, ids: &Ids<L>, id: u32) {
        ids.change(id, FREE);
        self.used -= 1;
    }

    /// How many ids are in use.
    #[must_use]
    pub const fn used(&self) -> usize {
        self.used
    }
}

impl Default for IdAllocator {
    fn default() -> IdAllocator {
        IdAllocator::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::OnceLock;

    /// Leaves on the heap, `room` at most.
    struct Heap {
        leaves: [OnceLock<Box<Leaf>>; LEAVES],
        room: usize,
    }

    impl Leaves for Heap {
        fn leaf(&self, index: usize) -> Option<&Leaf> {
            self.leaves[index].get().map(|leaf| &**leaf)
        }

        fn add(&self, index: usize) -> Result<&Leaf, Errno> {
            if index >= self.room {
                return Err(Errno::ENOMEM);
            }
            assert!(self.leaf(index).is_none(), "added twice");
            Ok(self.leaves[index].get_or_init(|| Box::new(Leaf::new())))
        }
    }

    fn ids(room: usize) -> Ids<Heap> {
        Ids::new(Heap { leaves: [const { OnceLock::new() }; LEAVES], room })
    }

    #[test]
    fn a_leaf_is_a_page() {
        assert_eq!((size_of::<Leaf>(), align_of::<Leaf>()), (4096, 4096));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes all ids")]
    fn ids_rise_from_one_through_all_and_around_to_the_freed() {
        let (ids, mut allocator) = (ids(LEAVES), IdAllocator::new());
        for expected in 1..COUNT as u32 {
            assert_eq!(allocator.allocate(&ids), Ok(expected));
        }
        assert_eq!(allocator.allocate(&ids), Err(Errno::EAGAIN));
        for freed in [70_000, 5] {
            allocator.free(&ids, freed);
        }
        assert_eq!(allocator.used(), COUNT - 3);
        assert_eq!([5, 70_000].map(Ok), [allocator.allocate(&ids), allocator.allocate(&ids)]);
        assert_eq!(allocator.allocate(&ids), Err(Errno::EAGAIN));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes all ids")]
    fn a_freed_id_is_not_at_once_reused() {
        let (ids, mut allocator) = (ids(LEAVES), IdAllocator::new());
        let first = allocator.allocate(&ids).unwrap();
        allocator.free(&ids, first);
        for _ in 1..COUNT - 1 {
            let id = allocator.allocate(&ids).unwrap();
            assert_ne!(id, first);
            allocator.free(&ids, id);
        }
        assert_eq!(allocator.allocate(&ids), Ok(first));
    }

    #[test]
    fn numbers_that_are_no_ids_name_nothing() {
        let (ids, mut allocator) = (ids(LEAVES), IdAllocator::new());
        allocator.allocate(&ids).unwrap();
        for id in [0, 1, 2, LEAF as u32, COUNT as u32 - 1, COUNT as u32, u32::MAX] {
            assert_eq!(ids.lookup(id), None, "{id}");
        }
    }

    #[test]
    fn without_memory_for_a_leaf_there_is_no_id_and_nothing_is_lost() {
        let (ids, mut allocator) = (ids(1), IdAllocator::new());
        for _ in 1..LEAF {
            allocator.allocate(&ids).unwrap();
        }
        assert_eq!(allocator.allocate(&ids), Err(Errno::ENOMEM));
        assert_eq!(allocator.allocate(&ids), Err(Errno::ENOMEM));
        assert_eq!(allocator.used(), LEAF - 1);
    }

    proptest! {
        #[test]
        fn the_table_is_a_map(steps in prop::collection::vec((0u8..4, any::<prop::sample::Index>(), 0..99u32), 0..300)) {
            let (ids, mut allocator) = (ids(LEAVES), IdAllocator::new());
            let mut model: BTreeMap<u32, Option<Slot>> = BTreeMap::new();
            for (kind, pick, number) in steps {
                let chosen = (!model.is_empty()).then(|| *pick.get(&model.keys().copied().collect::<Vec<_>>()));
                match (kind, chosen) {
                    (0, _) | (_, None) => {
                        let id = allocator.allocate(&ids).unwrap();
                        prop_assert_eq!(model.insert(id, None), None, "handed out while in use");
                    }
                    (1, Some(id)) => {
                        ids.set(id, Slot::new(number));
                        model.insert(id, Some(Slot::new(number)));
                    }
                    (2, Some(id)) => {
                        ids.clear(id);
                        model.insert(id, None);
                    }
                    (_, Some(id)) => {
                        allocator.free(&ids, id);
                        model.remove(&id);
                    }
                }
                prop_assert_eq!(allocator.used(), model.len());
                for id in 0..320 {
                    prop_assert_eq!(ids.lookup(id), model.get(&id).copied().flatten());
                }
            }
        }
    }
}
