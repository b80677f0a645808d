//! The table against a plain list of processes.

use super::*;
use proptest::prelude::*;

/// What a process is in the model: pid, parent's pid, group, ended.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Person {
    slot: u32,
    pid: u32,
    parent: u32,
    group: u32,
    has_ended: bool,
    change: Option<Change>,
}

#[derive(Default)]
struct Model(Vec<Person>);

impl Model {
    fn find(&self, pid: u32) -> Option<&Person> {
        self.0.iter().find(|person| person.pid == pid)
    }

    fn look(&self, parent: u32, which: Which, interest: Interest) -> Option<Option<(u32, Option<Change>)>> {
        let meant = |person: &&Person| {
            person.parent == parent
                && match which {
                    Which::Any => true,
                    Which::Pid(pid) => person.pid == pid,
                    Which::Group(group) => person.group == group,
                }
        };
        let news = |child: &Person| match child.change {
            _ if child.has_ended => interest.ended.then_some((child.pid, None)),
            Some(Change::Stopped(_)) if !interest.stopped => None,
            Some(Change::Continued) if !interest.continued => None,
            change => change.map(|change| (child.pid, Some(change))),
        };
        let children: Vec<&Person> = self.0.iter().filter(meant).collect();
        (!children.is_empty()).then(|| children.into_iter().find_map(news))
    }

    /// Children go to the first process, behind its own.
    fn end(&mut self, pid: u32) -> bool {
        let (orphans, mut rest): (Vec<Person>, Vec<Person>) =
            self.0.iter().partition(|person| person.parent == pid);
        rest.iter_mut().filter(|person| person.pid == pid).for_each(|person| {
            person.has_ended = true;
            person.change = None;
        });
        rest.extend(orphans.iter().map(|orphan| Person { parent: 1, ..*orphan }));
        self.0 = rest;
        orphans.iter().any(|orphan| orphan.has_ended)
    }

    fn free_slot(&self) -> u32 {
        (0..).find(|&slot| self.0.iter().all(|person| person.slot != slot)).expect("there is a number")
    }
}

#[derive(Debug, Clone)]
enum Step {
    Fork(prop::sample::Index),
    End(prop::sample::Index),
    Change(prop::sample::Index, Change),
    Wait(prop::sample::Index, Option<u32>, Interest),
    Regroup(prop::sample::Index, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let who = any::<prop::sample::Index>;
    prop_oneof![
        4 => who().prop_map(Step::Fork),
        2 => who().prop_map(Step::End),
        2 => (who(), change()).prop_map(|(who, change)| Step::Change(who, change)),
        3 => (who(), prop::option::of(1..20u32), interest())
            .prop_map(|(who, pid, interest)| Step::Wait(who, pid, interest)),
        1 => (who(), 0..20u32).prop_map(|(who, group)| Step::Regroup(who, group)),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![Just(Change::Continued), (19..23u8).prop_map(Change::Stopped)]
}

fn interest() -> impl Strategy<Value = Interest> {
    any::<(bool, bool, bool)>().prop_map(|(ended, stopped, continued)| Interest { ended, stopped, continued })
}

fn begin() -> (Family, Model) {
    let (mut family, mut model) = (Family::new(), Model::default());
    family.reserve(1).unwrap();
    family.add(ProcessSlot::new(0), 1, None);
    model.0.push(Person { slot: 0, pid: 1, parent: 0, group: 1, has_ended: false, change: None });
    (family, model)
}

proptest! {
    #[test]
    fn families_are_as_in_a_plain_list(steps in prop::collection::vec(step(), 0..120)) {
        let (mut family, mut model) = begin();
        let mut next_pid = 2;
        for step in steps {
            let living: Vec<Person> = model.0.iter().copied().filter(|person| !person.has_ended).collect();
            match step {
                Step::Fork(who) => {
                    let parent = *who.get(&living);
                    let slot = model.free_slot();
                    family.reserve(slot as usize + 1).unwrap();
                    family.add(ProcessSlot::new(slot), next_pid, Some(ProcessSlot::new(parent.slot)));
                    let (pid, parent, group) = (next_pid, parent.pid, parent.group);
                    model.0.push(Person { slot, pid, parent, group, has_ended: false, change: None });
                    next_pid += 1;
                }
                Step::End(who) => {
                    let ended = *who.get(&living);
                    if ended.pid != 1 {
                        prop_assert_eq!(family.end(ProcessSlot::new(ended.slot)), model.end(ended.pid));
                    }
                }
                Step::Change(who, change) => {
                    let pid = who.get(&living).pid;
                    let place = model.0.iter_mut().find(|person| person.pid == pid);
                    let person = place.expect("it lives");
                    person.change = Some(change);
                    family.change(ProcessSlot::new(person.slot), change);
                }
                Step::Wait(who, pid, interest) => {
                    let parent = *who.get(&living);
                    let which = pid.map_or(Which::Any, Which::Pid);
                    let expected = model.look(parent.pid, which, interest);
                    match family.look(ProcessSlot::new(parent.slot), which, interest) {
                        Found::Ended(child) => {
                            let pid = family.pid(child);
                            prop_assert_eq!(expected, Some(Some((pid, None))));
                            family.remove(child);
                            model.0.retain(|person| person.pid != pid);
                        }
                        Found::Changed(child, change) => {
                            let pid = family.pid(child);
                            prop_assert_eq!(expected, Some(Some((pid, Some(change)))));
                            family.told(child);
                            model.0.iter_mut().filter(|person| person.pid == pid).for_each(|p| p.change = None);
                        }
                        Found::Living => prop_assert_eq!(expected, Some(None)),
                        Found::NoChild => prop_assert_eq!(expected, None),
                    }
                }
                Step::Regroup(who, group) => {
                    let person = *who.get(&living);
                    let wanted = if group == 0 { person.pid } else { group };
                    let allowed = person.pid != 1
                        && (wanted == person.pid || model.0.iter().any(|other| other.group == wanted));
                    let result = family.set_group(ProcessSlot::new(person.slot), group);
                    prop_assert_eq!(result.is_ok(), allowed);
                    if allowed {
                        let place = model.0.iter_mut().find(|other| other.pid == person.pid);
                        place.expect("it lives").group = wanted;
                    }
                }
            }
            compare(&family, &model, next_pid)?;
        }
    }
}

fn compare(family: &Family, model: &Model, next_pid: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!(family.count(), model.0.len());
    for pid in 0..next_pid {
        let found = family.find(pid);
        prop_assert_eq!(found.map(ProcessSlot::number), model.find(pid).map(|person| person.slot));
        if let (Some(slot), Some(person)) = (found, model.find(pid)) {
            let parent = family.parent(slot).map_or(0, |parent| family.pid(parent));
            prop_assert_eq!((parent, family.group(slot)), (person.parent, person.group));
            prop_assert_eq!(family.has_ended(slot), person.has_ended);
        }
        let above = model.0.iter().map(|person| person.pid).filter(|&other| other > pid).min();
        prop_assert_eq!(family.next_above(pid).map(|slot| family.pid(slot)), above);
    }
    Ok(())
}

#[test]
fn sessions_are_left_and_begun_as_posix_says() {
    let (mut family, _) = begin();
    family.reserve(3).unwrap();
    let [first, child, other] = [0, 1, 2].map(ProcessSlot::new);
    family.add(child, 2, Some(first));
    family.add(other, 3, Some(first));
    assert_eq!(family.set_group(first, 0), Err(Errno::EPERM), "it leads its session");
    assert_eq!(family.set_group(child, 77), Err(Errno::EPERM), "there is no such group");
    assert_eq!(family.set_group(child, 0), Ok(()));
    assert_eq!(family.begin_session(child), Err(Errno::EPERM), "it leads a group");
    assert_eq!(family.begin_session(other), Ok(3));
    assert_eq!((family.group(other), family.session(other)), (3, 3));
    assert_eq!(family.set_group(other, 2), Err(Errno::EPERM), "a group of another session");
}

#[test]
fn a_group_keeps_its_id_when_its_leader_is_gone() {
    let (mut family, _) = begin();
    family.reserve(3).unwrap();
    let [first, leader, member] = [0, 1, 2].map(ProcessSlot::new);
    family.add(leader, 2, Some(first));
    family.set_group(leader, 0).unwrap();
    family.add(member, 3, Some(first));
    family.set_group(member, 2).unwrap();
    assert!(!family.end(leader));
    assert_eq!(family.look(first, Which::Pid(2), Interest::ENDS), Found::Ended(leader));
    family.remove(leader);
    assert_eq!((family.find(2), family.names_a_group(2)), (None, true));
    family.set_group(member, 0).unwrap();
    assert!(!family.names_a_group(2) && family.names_a_group(1) && !family.names_a_group(99));
}
