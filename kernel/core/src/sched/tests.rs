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

    #[test]
    fn decisions_combine_associatively_and_stay_is_neutral(a in decision(), b in decision(), c in decision()) {
        prop_assert_eq!(a.then(b).then(c), a.then(b.then(c)));
        prop_assert_eq!(Switch::Stay.then(a), a);
        prop_assert_eq!(a.then(Switch::Stay), a);
    }
}

fn decision() -> impl Strategy<Value = Switch> {
    prop_oneof![Just(Switch::Stay), Just(Switch::Idle), (0..3u32).prop_map(|n| Switch::To(Slot::new(n)))]
}

#[test]
fn who_gets_the_cpu() {
    use Reason::*;
    let links = table();
    let mut queue = RunQueue::new();
    let [low, mine, high] = [3, 10, 20].map(Priority::new);
    for reason in [GivesUp, Yields, SliceEnds, OtherReady] {
        assert_eq!(decide(None, &queue, reason), Switch::Idle, "{reason:?}");
        let alone = if reason == GivesUp { Switch::Idle } else { Switch::Stay };
        assert_eq!(decide(Some(mine), &queue, reason), alone, "{reason:?}");
    }
    let answers = |queue: &RunQueue| {
        [GivesUp, Yields, SliceEnds, OtherReady].map(|reason| decide(Some(mine), queue, reason))
    };
    let to = |number| Switch::To(Slot::new(number));
    queue.push_back(&links, Slot::new(0), low);
    assert_eq!(answers(&queue), [to(0), Switch::Stay, Switch::Stay, Switch::Stay]);
    queue.push_back(&links, Slot::new(1), mine);
    assert_eq!(answers(&queue), [to(1), to(1), to(1), Switch::Stay]);
    queue.push_back(&links, Slot::new(2), high);
    assert_eq!(answers(&queue), [to(2); 4]);
    assert_eq!(decide(None, &queue, OtherReady), to(2));
}

#[test]
fn only_a_rival_ends_a_slice() {
    let links = table();
    let mut queue = RunQueue::new();
    let [low, mine] = [3, 10].map(Priority::new);
    assert_eq!(slice_end(mine, &queue, 100, 50), None);
    queue.push_back(&links, Slot::new(0), low);
    assert_eq!(slice_end(mine, &queue, 100, 50), None);
    queue.push_back(&links, Slot::new(1), mine);
    assert_eq!(slice_end(mine, &queue, 100, 50), Some(150));
    assert_eq!(slice_end(mine, &queue, u64::MAX, 50), Some(u64::MAX));
}

#[test]
fn priorities_end_at_the_best() {
    assert_eq!(Priority::new(64), Priority::new(63));
    assert!(Priority::new(63) > Priority::new(62));
}
