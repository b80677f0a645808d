//! Of an affinity mask no more counts than what the set has (docs/psets.md), and no less: a CPU that goes takes nothing of it
//! away for good, and who may use that CPU alone is there when the call returns that brings it back.

use std::time::Duration;

use guest::{Set, Spinner, allow, alone, cpus, here, user_time_on};
use userlib::cpu::CpuId;
use userlib::lwp;
use userlib::pset::{self, PsetId, Who};

const CPU: CpuId = CpuId::from_raw(1);

/// Brings the CPU of a set home, and ends the set.
type Home = fn(Set);

fn by_assign(set: Set) {
    assert_eq!(pset::assign(PsetId::DEFAULT, CPU), Ok(set.0));
}

fn by_destroy(set: Set) {
    pset::destroy(set.0).expect("pset_destroy");
}

/// What LWPs other than the caller spend in user mode on the first CPU, where the caller is, in a moment.
fn time_of_others() -> Duration {
    let own = || lwp::cputime(lwp::current()).expect("the caller").user;
    let before = own();
    let all = user_time_on(0);
    all.saturating_sub(own() - before)
}

/// A spinner's only CPU goes and comes.
fn a_spinner_comes_back(home: Home) {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let spinner = Spinner::silent();
    assert!(allow(spinner.lwp.raw(), 1 << 1) && allow(0, 1));
    for round in 0..30 {
        let set = Set::of(&[1]);
        spinner.await_round();
        assert!(user_time_on(1).is_zero(), "round {round}: away from a CPU that is not its set's");
        home(set);
        let others = time_of_others();
        assert!(others.is_zero(), "round {round}: outside its mask for {others:?}");
        assert!(!user_time_on(1).is_zero(), "round {round}: it runs");
    }
    assert!(allow(0, u64::MAX));
}

/// The caller's own.
fn the_caller_comes_back(home: Home) {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    assert!(allow(0, 1 << 1));
    for round in 0..200 {
        assert_eq!(here(), CPU, "round {round}");
        let set = Set::of(&[1]);
        assert_ne!(here(), CPU, "round {round}");
        home(set);
    }
    assert!(allow(0, u64::MAX));
}

#[test]
fn a_spinner_is_back_when_its_cpu_was_assigned() {
    a_spinner_comes_back(by_assign);
}

#[test]
fn a_spinner_is_back_when_its_cpus_set_was_destroyed() {
    a_spinner_comes_back(by_destroy);
}

#[test]
fn the_caller_is_back_when_its_cpu_was_assigned() {
    the_caller_comes_back(by_assign);
}

#[test]
fn the_caller_is_back_when_its_cpus_set_was_destroyed() {
    the_caller_comes_back(by_destroy);
}

/// In a set of which its mask has nothing, an LWP uses all; its mask holds again when that set is destroyed.
#[test]
fn a_mask_holds_again_when_the_set_is_gone() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let spinner = Spinner::silent();
    assert!(allow(spinner.lwp.raw(), 1) && allow(0, 1));
    for round in 0..10 {
        let set = Set::of(&[1]);
        pset::bind(set.0, Who::Lwp(spinner.lwp)).expect("pset_bind");
        spinner.await_round();
        assert!(!user_time_on(1).is_zero(), "round {round}: its set's only CPU");
        pset::destroy(set.0).expect("pset_destroy");
        let ran = user_time_on(1);
        assert!(ran.is_zero(), "round {round}: outside its mask for {ran:?}");
    }
    assert!(allow(0, u64::MAX));
}
