//! Time-outs, in the order in which they fall due.
//!
//! A binary heap, with the place of each slot in it beside: setting, taking back and firing cost O(log n), the next
//! deadline O(1). A slot has at most one time-out. Room is made where it may fail, when a slot is made; setting a
//! time-out then never does.

use crate::sched::Slot;
use alloc::vec::Vec;
use syscalls::Errno;

/// `places` of a slot that has no time-out.
const UNSET: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Timer {
    deadline: u64,
    /// Counts up with each setting: among equal deadlines the one set first is due first.
    order: u64,
    slot: Slot,
}

impl Timer {
    const fn is_before(&self, other: &Timer) -> bool {
        self.deadline < other.deadline || (self.deadline == other.deadline && self.order < other.order)
    }
}

/// Time-outs of slots 0…n, the earliest first; those of one deadline in the order they were set.
#[derive(Debug)]
pub struct TimerQueue {
    /// No timer is before its parent, which is at `(index - 1) / 2`.
    heap: Vec<Timer>,
    /// By slot: the index of its timer in `heap`, or `UNSET`.
    places: Vec<u32>,
    next_order: u64,
}

impl TimerQueue {
    /// No time-outs, and room for none.
    #[must_use]
    pub const fn new() -> TimerQueue {
        TimerQueue { heap: Vec::new(), places: Vec::new(), next_order: 0 }
    }

    /// Makes room for the time-outs of slots 0…`slots` − 1. ENOMEM: nothing has changed.
    pub fn reserve(&mut self, slots: usize) -> Result<(), Errno> {
        let places = slots.saturating_sub(self.places.len());
        let timers = slots.saturating_sub(self.heap.len());
        self.places.try_reserve(places).map_err(|_| Errno::ENOMEM)?;
        self.heap.try_reserve(timers).map_err(|_| Errno::ENOMEM)?;
        self.places.resize(self.places.len() + places, UNSET);
        Ok(())
    }

    /// When the next time-out is due.
    #[inline]
    #[must_use]
    pub fn next_deadline(&self) -> Option<u64> {
        self.heap.first().map(|timer| timer.deadline)
    }

    /// Sets the time-out of `slot`, in place of any it had. Room for the slot was [reserved](TimerQueue::reserve).
    pub fn insert(&mut self, deadline: u64, slot: Slot) {
        self.remove(slot);
        let timer = Timer { deadline, order: self.next_order, slot };
        self.next_order += 1;
        self.heap.push(timer);
        self.rise(self.heap.len() - 1, timer);
    }

    /// Takes back the time-out of `slot`; says whether there was one.
    pub fn remove(&mut self, slot: Slot) -> bool {
        let place = core::mem::replace(&mut self.places[slot.index()], UNSET);
        if place == UNSET {
            return false;
        }
        let Some(last) = self.heap.pop() else { return false };
        let place = place as usize;
        if place < self.heap.len() {
            self.settle(place, last);
        }
        true
    }

    /// Takes out the first time-out that is due at `now`, if one is.
    pub fn pop_due(&mut self, now: u64) -> Option<Slot> {
        let slot = self.heap.first().filter(|timer| timer.deadline <= now)?.slot;
        self.remove(slot);
        Some(slot)
    }

    /// Puts `timer` into the gap at `index`, or where the order wants it from there.
    fn settle(&mut self, index: usize, timer: Timer) {
        if index > 0 && timer.is_before(&self.heap[(index - 1) / 2]) {
            self.rise(index, timer);
        } else {
            self.sink(index, timer);
        }
    }

    /// Moves later parents down into the gap at `index` until `timer` fits there.
    fn rise(&mut self, mut index: usize, timer: Timer) {
        while index > 0 {
            let parent = (index - 1) / 2;
            if !timer.is_before(&self.heap[parent]) {
                break;
            }
            self.place(index, self.heap[parent]);
            index = parent;
        }
        self.place(index, timer);
    }

    /// Moves earlier children up into the gap at `index` until `timer` fits there.
    fn sink(&mut self, mut index: usize, timer: Timer) {
        while let Some(child) = self.earlier_child(index) {
            if !self.heap[child].is_before(&timer) {
                break;
            }
            self.place(index, self.heap[child]);
            index = child;
        }
        self.place(index, timer);
    }

    fn earlier_child(&self, index: usize) -> Option<usize> {
        let (left, right) = (2 * index + 1, 2 * index + 2);
        let first = self.heap.get(left)?;
        let right_is_before = self.heap.get(right).is_some_and(|second| second.is_before(first));
        Some(if right_is_before { right } else { left })
    }

    fn place(&mut self, index: usize, timer: Timer) {
        self.heap[index] = timer;
        self.places[timer.slot.index()] = index as u32;
    }
}

impl Default for TimerQueue {
    fn default() -> TimerQueue {
        TimerQueue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLOTS: u32 = 20;

    fn queue() -> TimerQueue {
        let mut queue = TimerQueue::new();
        queue.reserve(SLOTS as usize).unwrap();
        queue
    }

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Insert(u64, u32),
        Remove(u32),
        PopDue(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        // Few deadlines, so that many are equal.
        let deadline = prop_oneof![4 => 0u64..10, 1 => Just(u64::MAX)];
        prop_oneof![
            4 => (deadline.clone(), 0..SLOTS).prop_map(|(deadline, slot)| Step::Insert(deadline, slot)),
            2 => (0..SLOTS).prop_map(Step::Remove),
            1 => deadline.prop_map(Step::PopDue),
        ]
    }

    proptest! {
        /// The model is a list, searched from the front for the least deadline.
        #[test]
        fn time_outs_fall_due_by_deadline_then_by_setting(steps in prop::collection::vec(step(), 0..300)) {
            let mut queue = queue();
            let mut model: Vec<(u64, u32)> = Vec::new();
            let first_due = |model: &Vec<(u64, u32)>| model.iter().copied().min_by_key(|&(deadline, _)| deadline);
            for step in steps {
                match step {
                    Step::Insert(deadline, slot) => {
                        model.retain(|&(_, other)| other != slot);
                        model.push((deadline, slot));
                        queue.insert(deadline, Slot::new(slot));
                    }
                    Step::Remove(slot) => {
                        let there = model.iter().any(|&(_, other)| other == slot);
                        model.retain(|&(_, other)| other != slot);
                        prop_assert_eq!(queue.remove(Slot::new(slot)), there);
                    }
                    Step::PopDue(now) => {
                        let due = first_due(&model).filter(|&(deadline, _)| deadline <= now);
                        model.retain(|&timer| Some(timer) != due);
                        prop_assert_eq!(queue.pop_due(now), due.map(|(_, slot)| Slot::new(slot)));
                    }
                }
                prop_assert_eq!(queue.next_deadline(), first_due(&model).map(|(deadline, _)| deadline));
            }
            while let Some((deadline, slot)) = first_due(&model) {
                prop_assert_eq!(queue.pop_due(deadline), Some(Slot::new(slot)));
                model.retain(|&(_, other)| other != slot);
            }
            prop_assert_eq!(queue.pop_due(u64::MAX), None);
        }
    }

    #[test]
    fn room_is_made_only_by_reserving() {
        let mut queue = queue();
        let rooms = (queue.heap.capacity(), queue.places.capacity());
        for slot in 0..SLOTS {
            queue.insert(u64::from(slot), Slot::new(slot));
            queue.insert(u64::from(SLOTS - slot), Slot::new(slot));
        }
        assert_eq!((queue.heap.capacity(), queue.places.capacity()), rooms);
        queue.reserve(5).unwrap();
        assert_eq!(queue.places.len(), SLOTS as usize);
    }

    #[test]
    fn too_much_room_is_refused_and_changes_nothing() {
        let mut queue = queue();
        assert_eq!(queue.reserve(usize::MAX), Err(Errno::ENOMEM));
        assert_eq!(queue.places.len(), SLOTS as usize);
    }
}
