//! Whoever is bound elsewhere while it runs has left when the call returns (docs/psets.md), though it makes no calls itself:
//! the CPU that it may no longer use spends no more time in user mode, to the nanosecond.

use guest::{Set, Spinner, allow, alone, cpus, user_time_on};
use userlib::cpu::CpuId;
use userlib::pset::{self, PsetId, Who};

/// The CPU that is left. The caller is on the first one.
const LEFT: i32 = 1;
const ROUNDS: usize = 20;

fn bind_to_cpu(cpu: Option<i32>, who: Who) {
    pset::bind_to_cpu(cpu.map(CpuId::from_raw), who).expect("processor_bind");
}

/// Again and again: a spinner is brought to the CPU, and sent away. `bring` may leave things to `send`, and that undoes all.
fn leaves_at_once<T>(what: &str, bring: impl Fn(&Spinner) -> T, send: impl Fn(&Spinner, &T)) {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let spinner = Spinner::silent();
    assert!(allow(0, 1), "the caller stays away");
    for round in 0..ROUNDS {
        let kept = bring(&spinner);
        assert!((0..1000).any(|_| !user_time_on(LEFT).is_zero()), "{what}, round {round}: it came");
        send(&spinner, &kept);
        let ran = user_time_on(LEFT);
        assert!(ran.is_zero(), "{what}, round {round}: CPU {LEFT} ran it on for {ran:?} of 2 ms");
    }
    assert!(allow(0, u64::MAX));
}

/// The spinner is in a set with the CPU, and is unbound.
fn leaves_when_unbound(what: &str, whom: impl Fn(&Spinner, PsetId) -> Who) {
    let bring = |spinner: &Spinner| {
        let set = Set::of(&[LEFT]);
        pset::bind(set.0, Who::Lwp(spinner.lwp)).expect("pset_bind");
        set
    };
    leaves_at_once(what, bring, |spinner, set| {
        assert_eq!(pset::bind(PsetId::DEFAULT, whom(spinner, set.0)).map(drop), Ok(()));
    });
}

#[test]
fn unbound_by_its_own_id() {
    leaves_when_unbound("P_LWPID", |spinner, _| Who::Lwp(spinner.lwp));
}

#[test]
fn unbound_with_its_process() {
    leaves_when_unbound("P_PID", |_, _| Who::OwnProcess);
}

#[test]
fn unbound_with_its_set() {
    leaves_when_unbound("P_PSETID", |_, set| Who::Set(set));
}

#[test]
fn unbound_with_everybody() {
    leaves_when_unbound("P_ALL", |_, _| Who::All);
}

#[test]
fn bound_to_another_cpu() {
    let bring = |spinner: &Spinner| bind_to_cpu(Some(LEFT), Who::Lwp(spinner.lwp));
    leaves_at_once("processor_bind", bring, |spinner, ()| bind_to_cpu(Some(0), Who::Lwp(spinner.lwp)));
}

#[test]
fn bound_to_another_cpu_with_its_process() {
    let bring = |spinner: &Spinner| {
        bind_to_cpu(None, Who::OwnProcess);
        bind_to_cpu(Some(LEFT), Who::Lwp(spinner.lwp));
    };
    leaves_at_once("processor_bind, P_PID", bring, |_, ()| bind_to_cpu(Some(0), Who::OwnProcess));
    bind_to_cpu(None, Who::OwnProcess);
}

#[test]
fn given_another_mask() {
    let bring = |spinner: &Spinner| assert!(allow(spinner.lwp.raw(), 1 << LEFT));
    leaves_at_once("sched_setaffinity", bring, |spinner, ()| assert!(allow(spinner.lwp.raw(), !(1 << LEFT))));
}

/// A mask does not hold the CPU: its LWP goes to the others of its set.
#[test]
fn the_cpu_is_taken_from_under_it() {
    let bring = |spinner: &Spinner| {
        assert!(allow(spinner.lwp.raw(), 1 << LEFT));
        Set::of(&[])
    };
    leaves_at_once("pset_assign", bring, |_, set| {
        assert_eq!(pset::assign(set.0, CpuId::from_raw(LEFT)), Ok(PsetId::DEFAULT));
    });
}
