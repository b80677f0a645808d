//! The queue and the decisions against plain lists.

use super::*;
use proptest::prelude::*;

const SLOTS: u32 = 12;

struct Table([Link; SLOTS as usize]);

impl Links for Table {
    fn link(&self, slot: Slot) -> &Link {
        &self.0[slot.index()]
    }
}

fn table() -> Table {
    Table(core::array::from_fn(|_| Link::new()))
}

#[derive(Debug, Clone, Copy)]
enum Step {
    PushBack(u32, u8),
    PushFront(u32, u8),
    Pop,
    Exchange(u32, u8),
    Remove(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let priority = prop_oneof![Just(0u8), Just(1), Just(31), Just(32), Just(63)];
    prop_oneof![
        3 => (0..SLOTS, priority.clone()).prop_map(|(slot, priority)| Step::PushBack(slot, priority)),
        2 => (0..SLOTS, priority.clone()).prop_map(|(slot, priority)| Step::PushFront(slot, priority)),
        3 => (0..SLOTS, priority).prop_map(|(slot, priority)| Step::Exchange(slot, priority)),
        2 => Just(Step::Pop),
        2 => (0..SLOTS).prop_map(Step::Remove),
    ]
}

/// The queue as a list in order of service.
#[derive(Default)]
struct Model(Vec<(u32, u8)>);

impl Model {
    fn has(&self, slot: u32) -> bool {
        self.0.iter().any(|&(queued, _)| queued == slot)
    }

    fn push(&mut self, slot: u32, priority: u8, front: bool) {
        let goes_before = |other: u8| if front { other <= priority } else { other < priority };
        let place = self.0.iter().position(|&(_, other)| goes_before(other)).unwrap_or(self.0.len());
        self.0.insert(place, (slot, priority));
    }
}

fn apply(step: Step, queue: &mut RunQueue, links: &Table, model: &mut Model) {
    match step {
        Step::PushBack(slot, priority) if !model.has(slot) => {
            queue.push_back(links, Slot::new(slot), Priority::new(priority));
            model.push(slot, priority, false);
        }
        Step::PushFront(slot, priority) if !model.has(slot) => {
            queue.push_front(links, Slot::new(slot), Priority::new(priority));
            model.push(slot, priority, true);
        }
        Step::Pop => {
            let expected = (!model.0.is_empty()).then(|| Slot::new(model.0.remove(0).0));
            assert_eq!(queue.pop(links), expected);
        }
        Step::Exchange(slot, priority) if !model.has(slot) => {
            let expected = (!model.0.is_empty()).then(|| Slot::new(model.0.remove(0).0));
            assert_eq!(queue.exchange(links, Slot::new(slot), Priority::new(priority)), expected);
            if expected.is_some() {
                model.push(slot, priority, false);
            }
        }
        Step::Remove(slot) => {
            assert_eq!(queue.remove(links, Slot::new(slot)), model.has(slot));
            model.0.retain(|&(queued, _)| queued != slot);
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn the_queue_serves_by_priority_then_by_arrival(steps in prop::collection::vec(step(), 0..200)) {
        let (mut queue, links, mut model) = (RunQueue::new(), table(), Model::default());
        for step in steps {
            apply(step, &mut queue, &links, &mut model);
            prop_assert_eq!(queue.len(), model.0.len());
            prop_assert_eq!(queue.is_empty(), model.0.is_empty());
            let first = model.0.first().map(|&(slot, priority)| (Slot::new(slot), Priority::new(priority)));
            prop_assert_eq!(queue.first(), first);
            for slot in 0..SLOTS {
                prop_assert_eq!(links.link(Slot::new(slot)).is_queued(), model.has(slot));
            }
        }
        for (slot, _) in model.0 {
            prop_assert_eq!(queue.pop(&links), Some(Slot::new(slot)));
        }
        prop_assert_eq!(queue.pop(&links), None);
    }
}

/// Ten LWPs at three levels below one that runs all the time: every one of them gets its turn, none before it is due.
#[test]
fn turns_go_to_all_who_are_kept_out() {
    const PATIENCE: u64 = 100;
    let links = table();
    let (mut queue, mut turns) = (RunQueue::new(), Turns::new());
    let running = Priority::new(20);
    for slot in 0..10 {
        queue.push_back(&links, Slot::new(slot), Priority::new([1, 5, 19][slot as usize % 3]));
    }
    let mut turned = [0; 10];
    for now in (0..100 * PATIENCE).step_by(10) {
        match turns.after_slice(running, &queue, now, PATIENCE) {
            AfterSlice::Stay => assert!(now % PATIENCE != 0 || now == 0, "{now}: nobody had a turn"),
            AfterSlice::Rotate => panic!("nobody waits who is as good"),
            AfterSlice::Turn(slot) => {
                assert_eq!(now % PATIENCE, 0, "{now}: too early");
                turned[slot.index()] += 1;
                queue.remove(&links, slot);
                queue.push_back(&links, slot, Priority::new([1, 5, 19][slot.index() % 3]));
            }
        }
    }
    assert!(turned.iter().all(|&turns| turns >= 8), "{turned:?}");
}

#[test]
fn equals_and_betters_come_when_a_slice_ends() {
    let links = table();
    let (mut queue, mut turns) = (RunQueue::new(), Turns::new());
    let [low, mine, high] = [3, 10, 20].map(Priority::new);
    let mut after = |queue: &RunQueue, now| turns.after_slice(mine, queue, now, 100);
    assert_eq!(after(&queue, 1000), AfterSlice::Stay, "nobody waits");
    queue.push_back(&links, Slot::new(0), low);
    assert_eq!(after(&queue, 1050), AfterSlice::Stay, "not yet");
    queue.push_back(&links, Slot::new(1), mine);
    assert_eq!(after(&queue, 1060), AfterSlice::Rotate);
    queue.push_back(&links, Slot::new(2), high);
    assert_eq!(after(&queue, 1070), AfterSlice::Rotate);
    assert_eq!(after(&queue, 1100), AfterSlice::Turn(Slot::new(0)), "also while better ones wait");
    assert_eq!(after(&queue, 1110), AfterSlice::Rotate);
}
