//! Who waits at which word of memory: the queues of futexes.
//!
//! "Sleep if the word still is what I saw" must not lose a wake-up, and no lock may be held while user memory is
//! read. So a waiter joins first, looks at the word then, and blocks last; who changes the word looks for waiters
//! afterwards. Either the waiter sees the new word, or the other finds it here. All under one lock: a requeue moves
//! a waiter between two lists, and nobody may see it in neither.
//!
//! A waiter is taken out exactly once: by a wake, which is then spent on it, or by [`Waiting::leave`] (the word was
//! another, a time-out, a kill), which says whether it came first. Waiters at one key are served in the order in
//! which they came there.
//!
//! A waiter sees without the lock whether a wake took it out: that clears its bits, of which a waiter has some, and nothing
//! else does. That it is in no list would not do: for a moment, one that is moved by a requeue is in none.

use crate::list::{Link, Links, Lists, Slot};
use crate::sync::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    const_fn,
};

/// A word of memory that can be waited at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which address space, or which shared object.
    pub space: u64,
    /// The word's address in it.
    pub address: u64,
}

impl Key {
    /// The list that this key's waiters share with those of others: the product's top bits, which all bits sway.
    const fn list(self) -> usize {
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (self.address ^ self.space.rotate_left(32)).wrapping_mul(GOLDEN_RATIO);
        (mixed >> (64 - LISTS.ilog2())) as usize
    }
}

/// A power of two.
const LISTS: usize = 256;

/// All bits: waits for, or wakes, anyone at the key.
pub const ANY: u32 = u32::MAX;

/// What the table keeps in each slot; guarded by the table's lock.
#[derive(Debug)]
pub struct Waiter {
    link: Link,
    space: AtomicU64,
    address: AtomicU64,
    bits: AtomicU32,
}

impl Waiter {
    const_fn! {
        /// One that does not wait.
        #[must_use]
        pub fn new() -> Waiter {
            Waiter {
                link: Link::new(),
                space: AtomicU64::new(0),
                address: AtomicU64::new(0),
                bits: AtomicU32::new(0),
            }
        }
    }

    /// Whether a wake took it out since it joined. Needs no lock, and sees what the waker did before.
    #[inline]
    #[must_use]
    pub fn is_woken(&self) -> bool {
        self.bits.load(Acquire) == 0
    }

    fn answers_to(&self, key: Key, bits: u32) -> bool {
        self.key() == key && self.bits.load(Relaxed) & bits != 0
    }

    fn key(&self) -> Key {
        Key { space: self.space.load(Relaxed), address: self.address.load(Relaxed) }
    }

    fn set_key(&self, key: Key) {
        self.space.store(key.space, Relaxed);
        self.address.store(key.address, Relaxed);
    }
}

impl Default for Waiter {
    fn default() -> Waiter {
        Waiter::new()
    }
}

/// Where the slots' waiters are: the same waiter for the same slot, always.
pub trait Waiters {
    /// The waiter of `slot`.
    fn waiter(&self, slot: Slot) -> &Waiter;
}

/// The waiters' links, as the lists want them.
struct WaiterLinks<'a, W>(&'a W);

impl<W: Waiters> Links for WaiterLinks<'_, W> {
    #[inline]
    fn link(&self, slot: Slot) -> &Link {
        &self.0.waiter(slot).link
    }
}

/// Everyone who waits.
#[derive(Debug)]
pub struct Waiting {
    lists: Lists<LISTS>,
}

impl Waiting {
    /// Nobody waits.
    #[must_use]
    pub const fn new() -> Waiting {
        Waiting { lists: Lists::new() }
    }

    /// `slot`, which does not wait, waits at `key`, behind all who do, for wakes that share one of `bits`, which are not 0.
    #[inline]
    pub fn join(&mut self, waiters: &impl Waiters, slot: Slot, key: Key, bits: u32) {
        let waiter = waiters.waiter(slot);
        waiter.set_key(key);
        waiter.bits.store(bits, Relaxed);
        self.lists.push_back(&WaiterLinks(waiters), slot, key.list());
    }

    /// `slot` waits no longer; false where it did not, because a wake was faster.
    #[inline]
    pub fn leave(&mut self, waiters: &impl Waiters, slot: Slot) -> bool {
        self.lists.remove(&WaiterLinks(waiters), slot).is_some()
    }

    /// Takes out the longest waiting at `key` that shares one of `bits`, to be woken.
    #[inline]
    pub fn take_first(&mut self, waiters: &impl Waiters, key: Key, bits: u32) -> Option<Slot> {
        let slot = self.find(waiters, key, bits)?;
        self.lists.unlink(&WaiterLinks(waiters), slot, key.list());
        waiters.waiter(slot).bits.store(0, Release);
        Some(slot)
    }

    /// Moves at most `most` of those who wait at `from`, the longest waiting first, behind all who wait at `to`.
    /// Returns how many. Between equal keys nothing moves.
    pub fn requeue(&mut self, waiters: &impl Waiters, from: Key, to: Key, most: usize) -> usize {
        let mut moved = 0;
        while moved < most && from != to {
            let Some(slot) = self.find(waiters, from, ANY) else { break };
            self.leave(waiters, slot);
            self.join(waiters, slot, to, waiters.waiter(slot).bits.load(Relaxed));
            moved += 1;
        }
        moved
    }

    /// The first is the one, as a rule: only where it is not, the next is looked up.
    #[inline]
    fn find(&self, waiters: &impl Waiters, key: Key, bits: u32) -> Option<Slot> {
        let mut slot = self.lists.first(key.list())?;
        while !waiters.waiter(slot).answers_to(key, bits) {
            slot = self.lists.next(&WaiterLinks(waiters), slot)?;
        }
        Some(slot)
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLOTS: u32 = 10;

    struct Table([Waiter; SLOTS as usize]);

    impl Waiters for Table {
        fn waiter(&self, slot: Slot) -> &Waiter {
            &self.0[slot.index()]
        }
    }

    fn table() -> Table {
        Table(core::array::from_fn(|_| Waiter::new()))
    }

    /// Some keys of different lists, and two that share one.
    fn keys() -> Vec<Key> {
        let key = |space, address| Key { space, address };
        let first = key(1, 0x1000);
        let neighbour =
            (1..).map(|n| key(1, 0x1000 + 4 * n)).find(|other| other.list() == first.list()).unwrap();
        vec![first, neighbour, key(2, 0x1000), key(1, 0x2000)]
    }

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Join(u32, usize, u32),
        Leave(u32),
        Take(usize, u32),
        Requeue(usize, usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let (slot, key, bits) = (0..SLOTS, 0usize..4, prop::sample::select(vec![1, 2, 3, 1 << 31, ANY]));
        prop_oneof![
            4 => (slot.clone(), key.clone(), bits.clone()).prop_map(|(slot, key, bits)| Step::Join(slot, key, bits)),
            1 => slot.prop_map(Step::Leave),
            2 => (key.clone(), bits).prop_map(|(key, bits)| Step::Take(key, bits)),
            1 => (key.clone(), key, 0usize..4).prop_map(|(from, to, most)| Step::Requeue(from, to, most)),
        ]
    }

    /// One list of all waiters, in the order in which they came where they are.
    #[derive(Default)]
    struct Model(Vec<(u32, usize, u32)>);

    impl Model {
        fn take(&mut self, key: usize, bits: u32) -> Option<(u32, usize, u32)> {
            let place = self.0.iter().position(|&(_, at, mask)| at == key && mask & bits != 0)?;
            Some(self.0.remove(place))
        }

        fn requeue(&mut self, from: usize, to: usize, most: usize) -> usize {
            let mut moved = Vec::new();
            while from != to && moved.len() < most {
                let Some((slot, _, bits)) = self.take(from, ANY) else { break };
                moved.push((slot, to, bits));
            }
            self.0.extend(&moved);
            moved.len()
        }
    }

    proptest! {
        #[test]
        fn waiters_are_served_in_order_by_key_and_bits(steps in prop::collection::vec(step(), 0..200)) {
            let (mut waiting, table, keys, mut model) = (Waiting::new(), table(), keys(), Model::default());
            for step in steps {
                match step {
                    Step::Join(slot, key, bits) => {
                        if model.0.iter().all(|&(other, ..)| other != slot) {
                            waiting.join(&table, Slot::new(slot), keys[key], bits);
                            model.0.push((slot, key, bits));
                        }
                    }
                    Step::Leave(slot) => {
                        let there = model.0.iter().any(|&(other, ..)| other == slot);
                        model.0.retain(|&(other, ..)| other != slot);
                        prop_assert_eq!(waiting.leave(&table, Slot::new(slot)), there);
                    }
                    Step::Take(key, bits) => {
                        let expected = model.take(key, bits).map(|(slot, ..)| Slot::new(slot));
                        prop_assert_eq!(waiting.take_first(&table, keys[key], bits), expected);
                        prop_assert!(expected.is_none_or(|slot| table.waiter(slot).is_woken()));
                    }
                    Step::Requeue(from, to, most) => {
                        let expected = model.requeue(from, to, most);
                        prop_assert_eq!(waiting.requeue(&table, keys[from], keys[to], most), expected);
                    }
                }
                for slot in 0..SLOTS {
                    let there = model.0.iter().any(|&(other, ..)| other == slot);
                    prop_assert_eq!(table.waiter(Slot::new(slot)).link.is_queued(), there);
                    prop_assert!(!there || !table.waiter(Slot::new(slot)).is_woken());
                }
            }
            for (key, &word) in keys.iter().enumerate() {
                while let Some((slot, ..)) = model.take(key, ANY) {
                    prop_assert_eq!(waiting.take_first(&table, word, ANY), Some(Slot::new(slot)));
                }
                prop_assert_eq!(waiting.take_first(&table, word, ANY), None);
            }
        }
    }

    /// The words of one page, and one word of many spaces, do not crowd into few lists.
    #[test]
    fn keys_spread_over_the_lists() {
        let used = |keys: &mut dyn Iterator<Item = Key>| {
            keys.map(Key::list).collect::<std::collections::BTreeSet<_>>().len()
        };
        let words =
            used(&mut (0..1024).map(|n| Key { space: 0xffff_ff00_0000_1000, address: 0x7000_0000 + 4 * n }));
        let spaces =
            used(&mut (0..1024).map(|n| Key { space: 0xffff_ff00_0000_0000 + 64 * n, address: 0x40_3000 }));
        assert!(words > LISTS / 2 && spaces > LISTS / 2, "{words}, {spaces}");
    }
}
