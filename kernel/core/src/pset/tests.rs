//! The sets against a plain model, and the rows of the error table that are decided here.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const CPUS: u32 = 4;

fn machine() -> Sets {
    let mut sets = Sets::new();
    (0..CPUS).for_each(|cpu| sets.add_cpu(cpu));
    sets
}

const NOBODY: Bindings = Bindings { in_set: 0, to_cpu: 0 };

#[derive(Debug, Clone)]
enum Step {
    Create,
    Destroy(prop::sample::Index),
    Assign(u32, Option<prop::sample::Index>, Bindings),
}

fn step() -> impl Strategy<Value = Step> {
    let bindings =
        (0..3u32, 0..2u32).prop_map(|(in_set, to_cpu)| Bindings { in_set, to_cpu: to_cpu.saturating_sub(1) });
    let index = any::<prop::sample::Index>;
    prop_oneof![
        3 => Just(Step::Create),
        2 => index().prop_map(Step::Destroy),
        5 => (0..CPUS, prop::option::of(index()), bindings)
            .prop_map(|(cpu, to, bindings)| Step::Assign(cpu, to, bindings)),
    ]
}

/// Which set each CPU is in, by id; 0 is the default one.
struct Model {
    of_cpu: [i32; CPUS as usize],
    ids: Vec<i32>,
}

impl Model {
    fn count(&self, id: i32) -> usize {
        self.of_cpu.iter().filter(|&&of| of == id).count()
    }
}

proptest! {
    #[test]
    fn every_cpu_is_in_exactly_one_set(steps in prop::collection::vec(step(), 0..200)) {
        let mut sets = machine();
        let mut model = Model { of_cpu: [0; CPUS as usize], ids: Vec::new() };
        for step in steps {
            match step {
                Step::Create => match sets.create() {
                    Ok((id, place)) => {
                        prop_assert!(model.ids.len() < 2 * CPUS as usize);
                        prop_assert_eq!((sets.find(id.number()), sets.cpus(place)), (Ok(place), CpuSet(0)));
                        model.ids.push(id.number());
                    }
                    Err(errno) => {
                        prop_assert_eq!((errno, model.ids.len()), (Errno::ENOMEM, 2 * CPUS as usize));
                    }
                },
                Step::Destroy(which) if !model.ids.is_empty() => {
                    let id = model.ids.remove(which.index(model.ids.len()));
                    let freed = sets.destroy(sets.find(id).unwrap());
                    prop_assert_eq!(freed.len() as usize, model.count(id));
                    model.of_cpu.iter_mut().filter(|of| **of == id).for_each(|of| *of = 0);
                    prop_assert_eq!(sets.find(id), Err(Errno::EINVAL));
                }
                Step::Destroy(_) => {}
                Step::Assign(cpu, to, bindings) => {
                    let to = to.filter(|_| !model.ids.is_empty()).map_or(0, |to| *to.get(&model.ids));
                    let place = if to == 0 { DEFAULT } else { sets.find(to).unwrap() };
                    let from = model.of_cpu[cpu as usize];
                    let is_last = model.count(from) == 1 && (from == 0 || bindings.in_set > 0);
                    match sets.assign(cpu, place, bindings) {
                        Ok(Assigned::Stays) => prop_assert_eq!(from, to),
                        Ok(Assigned::Moved { .. }) => {
                            prop_assert!(from != to && !is_last && bindings.to_cpu == 0);
                            model.of_cpu[cpu as usize] = to;
                        }
                        Err(errno) => {
                            prop_assert_eq!(errno, Errno::EBUSY);
                            prop_assert!(from != to && (is_last || bindings.to_cpu > 0));
                        }
                    }
                }
            }
            compare(&sets, &model)?;
        }
    }
}

fn compare(sets: &Sets, model: &Model) -> Result<(), TestCaseError> {
    let mut expected: BTreeMap<i32, u64> = model.ids.iter().map(|&id| (id, 0)).collect();
    expected.insert(0, 0);
    for (cpu, of) in model.of_cpu.iter().enumerate() {
        *expected.get_mut(of).expect("a CPU is in a set that there is") |= 1 << cpu;
    }
    let found: BTreeMap<i32, u64> =
        sets.in_use().map(|place| (sets.id(place).map_or(0, PsetId::number), sets.cpus(place).0)).collect();
    prop_assert_eq!(&found, &expected);
    prop_assert!(found[&0] != 0, "the default set has a CPU");
    let mut ids = model.ids.clone();
    ids.sort_unstable();
    prop_assert_eq!(sets.ids().map(PsetId::number).collect::<Vec<i32>>(), ids);
    for cpu in -2..CPUS as i32 + 2 {
        let place = sets.place_of(cpu);
        prop_assert_eq!(place.is_ok(), (0..CPUS as i32).contains(&cpu));
        if let Ok(place) = place {
            prop_assert_eq!(sets.id(place).map_or(0, PsetId::number), model.of_cpu[cpu as usize]);
        }
    }
    Ok(())
}

#[test]
fn ids_begin_at_one_and_are_not_used_again_soon() {
    let mut sets = machine();
    for expected in 1..=3000 {
        let (id, place) = sets.create().unwrap();
        assert_eq!(id.number(), expected);
        let _ = sets.destroy(place);
    }
    sets.next_id = i32::MAX as u32;
    assert_eq!([(); 2].map(|()| sets.create().unwrap().0.number()), [i32::MAX, 1]);
    sets.next_id = i32::MAX as u32;
    assert_eq!(sets.create().unwrap().0.number(), 2, "those in use are left out");
}

#[test]
fn what_names_no_set() {
    let mut sets = machine();
    let (id, place) = sets.create().unwrap();
    assert_eq!(sets.find(id.number()), Ok(place));
    for number in [0, -1, -2, -3, 2, i32::MIN, i32::MAX] {
        assert_eq!(sets.find(number), Err(Errno::EINVAL), "{number}");
    }
}

#[test]
fn the_last_cpu_of_a_set_without_lwps_may_go() {
    let mut sets = machine();
    let (_, place) = sets.create().unwrap();
    assert_eq!(sets.assign(1, place, NOBODY), Ok(Assigned::Moved { from: DEFAULT, to: place }));
    assert_eq!(sets.assign(1, DEFAULT, Bindings { in_set: 1, to_cpu: 0 }), Err(Errno::EBUSY));
    assert_eq!(sets.assign(1, place, Bindings { in_set: 1, to_cpu: 1 }), Ok(Assigned::Stays), "before EBUSY");
    assert_eq!(sets.assign(1, DEFAULT, NOBODY), Ok(Assigned::Moved { from: place, to: DEFAULT }));
    assert!(sets.cpus(place).is_empty());
}
