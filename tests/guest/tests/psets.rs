//! Processor sets: who is in which, who inherits what, and that nobody runs where it may not (docs/psets.md). The errors, row
//! by row, are in `c/pset_errors.c`. What wants a second CPU holds trivially where there is one.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use guest::{Child, Ended, Set, Spinner, alone, cpus, cpus_of, here};
use userlib::Errno;
use userlib::cpu::{self, CpuId};
use userlib::lwp;
use userlib::pset::{self, PsetId, Who};

/// Every CPU is in exactly one set, and goes home when its set is destroyed.
#[test]
fn cpus_move_between_sets_and_come_home() {
    let _alone = alone();
    let all: Vec<i32> = (0..cpus() as i32).collect();
    assert_eq!(cpus_of(PsetId::DEFAULT), all);
    let (first, second) = (Set::of(&all[1..]), Set::of(&[]));
    assert_eq!((cpus_of(PsetId::DEFAULT), first.cpus(), second.cpus()), (vec![0], all[1..].to_vec(), vec![]));
    for &cpu in &all[1..] {
        assert_eq!(pset::assign(second.0, CpuId::from_raw(cpu)), Ok(first.0));
        assert_eq!(pset::of_cpu(CpuId::from_raw(cpu)), Ok(second.0));
    }
    assert_eq!((first.cpus(), second.cpus()), (vec![], all[1..].to_vec()));
    drop((first, second));
    assert_eq!(cpus_of(PsetId::DEFAULT), all);
}

/// No id comes again before a thousand others were handed out; a stale one names nothing.
#[test]
fn k21_ids_of_the_dead_name_nothing() {
    let _alone = alone();
    let mut seen = BTreeSet::new();
    for _ in 0..1001 {
        let set = pset::create().unwrap();
        assert!(seen.insert(set), "{set} came again");
        pset::destroy(set).unwrap();
        assert_eq!(pset::destroy(set), Err(Errno::EINVAL));
        assert_eq!(pset::load_averages(set), Err(Errno::EINVAL));
        assert!(!pset::exists(set));
    }
}

/// Threads and children begin with their maker's binding, and a destroyed set's LWPs are unbound.
#[test]
fn bindings_are_inherited_and_end_with_their_set() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let set = Set::of(&[1]);
    assert_eq!(pset::bind(set.0, Who::Caller), Ok(PsetId::DEFAULT));
    assert_eq!((pset::binding(Who::Caller), here().raw()), (Ok(set.0), 1));
    thread::spawn({
        let set = set.0;
        move || assert_eq!((pset::binding(Who::Caller), here().raw()), (Ok(set), 1))
    })
    .join()
    .unwrap();
    let child = Child::new(|| {
        assert_eq!((pset::binding(Who::OwnProcess), here().raw()), (Ok(set.0), 1));
        0
    });
    assert_eq!(pset::binding(Who::Process(child.pid)), Ok(set.0));
    assert_eq!(child.wait(), Ended::Exit(0));
    let sleeper = Child::new(|| {
        thread::sleep(Duration::from_millis(200));
        i32::from(pset::binding(Who::Caller) != Ok(PsetId::DEFAULT))
    });
    pset::destroy(set.0).unwrap();
    assert_eq!(pset::binding(Who::Caller), Ok(PsetId::DEFAULT));
    assert_eq!(pset::binding(Who::Process(sleeper.pid)), Ok(PsetId::DEFAULT));
    assert_eq!(sleeper.wait(), Ended::Exit(0));
}

/// LWPs of a set run on its CPUs only, all others only on the default set's.
#[test]
fn sets_are_exclusive() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let unbound: Vec<Spinner> = (0..cpus() + 1).map(|_| Spinner::start()).collect();
    let set = Set::of(&[1]);
    let bound: Vec<Spinner> = (0..2).map(|_| Spinner::start_in(set.0)).collect();
    for _ in 0..50 {
        assert!(unbound.iter().all(|spinner| spinner.place() != 1));
        assert!(bound.iter().all(|spinner| spinner.place() == 1));
    }
}

/// K18: an LWP that runs and is bound elsewhere has left when the call returns.
#[test]
fn k18_a_running_lwp_leaves_at_once() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let (set, spinner) = (Set::of(&[1]), Spinner::start());
    for _ in 0..200 {
        assert_eq!(pset::bind(set.0, Who::Lwp(spinner.lwp)), Ok(PsetId::DEFAULT));
        assert_eq!(spinner.place(), 1);
        assert_eq!(pset::bind(PsetId::DEFAULT, Who::Lwp(spinner.lwp)), Ok(set.0));
        assert_ne!(spinner.place(), 1);
    }
}

/// K19: an LWP that binds itself to a halted CPU goes on there.
#[test]
fn k19_an_lwp_moves_itself_to_an_idle_cpu() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let set = Set::of(&[1]);
    for _ in 0..1000 {
        pset::bind(set.0, Who::Caller).unwrap();
        assert_eq!(here().raw(), 1);
        pset::bind(PsetId::DEFAULT, Who::Caller).unwrap();
        assert_ne!(here().raw(), 1);
    }
}

/// K20: two LWPs bind each other to and fro while both run.
#[test]
fn k20_two_lwps_bind_each_other() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let set = Set::of(&[1]);
    let id = set.0;
    let (ours, theirs) = (lwp::current(), mpsc::channel());
    let other = thread::spawn(move || {
        theirs.0.send(lwp::current()).unwrap();
        (0..2000).for_each(|_| hop(id, Who::Lwp(ours)));
    });
    let other_lwp = theirs.1.recv().unwrap();
    for _ in 0..2000 {
        // It may be done before we are.
        let done = pset::bind(id, Who::Lwp(other_lwp))
            .and_then(|_| pset::bind(PsetId::DEFAULT, Who::Lwp(other_lwp)));
        assert!(matches!(done, Ok(_) | Err(Errno::ESRCH)), "{done:?}");
    }
    other.join().unwrap();
    pset::bind(PsetId::DEFAULT, Who::Caller).unwrap();
    assert_ne!(here().raw(), 1);
}

fn hop(set: PsetId, who: Who) {
    pset::bind(set, who).unwrap();
    pset::bind(PsetId::DEFAULT, who).unwrap();
}

/// A bind of several LWPs is all or nothing, and tells of the one with the lowest id.
#[test]
fn binding_a_process_is_all_or_nothing() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let set = Set::of(&[1]);
    let (first, second) = (Spinner::start_in(set.0), Spinner::start());
    pset::bind_to_cpu(Some(CpuId::from_raw(0)), Who::Lwp(second.lwp)).unwrap();
    assert_eq!(pset::bind(set.0, Who::OwnProcess), Err(Errno::EBUSY));
    let bindings =
        || [Who::Caller, Who::Lwp(first.lwp), Who::Lwp(second.lwp)].map(|who| pset::binding(who).unwrap());
    assert_eq!(bindings(), [PsetId::DEFAULT, set.0, PsetId::DEFAULT]);
    assert_eq!(pset::bind_to_cpu(None, Who::Lwp(second.lwp)), Ok(Some(CpuId::from_raw(0))));
    pset::bind(set.0, Who::Lwp(second.lwp)).unwrap();
    assert_eq!(pset::bind(set.0, Who::OwnProcess), Ok(PsetId::DEFAULT), "of the process's first LWP");
    assert_eq!(bindings(), [set.0; 3]);
    assert_eq!(pset::bind(PsetId::DEFAULT, Who::Set(set.0)), Ok(set.0));
    assert_eq!(bindings(), [PsetId::DEFAULT; 3]);
}

/// A query changes nothing, whoever asks for whatever.
#[test]
fn queries_change_nothing() {
    let _alone = alone();
    let set = Set::of(if cpus() > 1 { &[1] } else { &[] });
    for who in [Who::Caller, Who::OwnProcess, Who::Lwp(lwp::current())] {
        assert_eq!(pset::binding(who), Ok(PsetId::DEFAULT));
        assert_eq!(pset::cpu_binding(who), Ok(None));
    }
    assert_eq!([Who::All, Who::Set(set.0)].map(pset::binding), [Err(Errno::EINVAL); 2]);
    (0..cpus()).for_each(|cpu| {
        let expected = if cpu == 1 { set.0 } else { PsetId::DEFAULT };
        assert_eq!(pset::of_cpu(CpuId::from_raw(cpu as i32)), Ok(expected));
    });
}

/// K07: whoever asks, and from wherever, is told of the CPU that was asked for.
#[test]
fn k07_a_cpu_is_the_same_to_all_askers() {
    let _alone = alone();
    let mut last = vec![Duration::ZERO; cpus()];
    for asker in 0..cpus() as i32 {
        pset::bind_to_cpu(Some(CpuId::from_raw(asker)), Who::Caller).unwrap();
        for (cpu, last) in last.iter_mut().enumerate() {
            let info = cpu::info(CpuId::from_raw(cpu as i32)).unwrap();
            let total = [info.user, info.system, info.irq, info.idle].map(Duration::from_nanos).iter().sum();
            assert!(total >= *last, "CPU {cpu}, asked from {asker}: {total:?} after {last:?}");
            let times = cpu::times(CpuId::from_raw(cpu as i32)).unwrap();
            assert!(times.up >= total && times.up - total < Duration::from_secs(5), "{times:?}, {total:?}");
            *last = total;
        }
    }
    pset::bind_to_cpu(None, Who::Caller).unwrap();
}

/// K12: a CPU's idle time never falls nor outruns the clock while the CPU is moved between sets.
#[test]
fn k12_idle_time_goes_on_while_cpus_move() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let (set, cpu) = (Set::of(&[]), CpuId::from_raw(1));
    let (begin, first) = (Instant::now(), cpu::times(cpu).unwrap());
    let mut last = first;
    for round in 0..2000 {
        pset::assign(if round % 2 == 0 { set.0 } else { PsetId::DEFAULT }, cpu).unwrap();
        let now = cpu::times(cpu).unwrap();
        assert!(now.idle >= last.idle && now.up >= last.up, "{now:?} after {last:?}");
        last = now;
    }
    assert!(last.idle - first.idle <= begin.elapsed());
}

/// What is counted of a CPU only rises, and rises where something happens.
#[test]
fn counters_of_a_cpu_rise() {
    let _alone = alone();
    pset::bind_to_cpu(Some(CpuId::from_raw(0)), Who::Caller).unwrap();
    let before = cpu::info(CpuId::from_raw(0)).unwrap();
    (0..100).for_each(|_| thread::sleep(Duration::from_millis(1)));
    let after = cpu::info(CpuId::from_raw(0)).unwrap();
    pset::bind_to_cpu(None, Who::Caller).unwrap();
    assert!(after.system_calls >= before.system_calls + 100);
    assert!(after.switches >= before.switches + 100);
    assert!(after.interrupts > before.interrupts);
    assert_eq!((after.state, after.pset), (1, PsetId::DEFAULT.raw()));
    assert!(after.since.abs_diff(before.since) < 1_000_000_000, "it came up once");
}
