//! A process is bound while it makes LWPs: each of them is bound, or was made by one that was. So no bind is refused for the
//! sake of an LWP that is not where its process is, and none stays bound when all were freed.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use guest::{Child, Ended, Set, add_lwp, alone, at_full_length, cpus, end, shared_word};
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::pset::{self, PsetId, Who};

const CPU: CpuId = CpuId::from_raw(1);

/// So many LWPs more in each round, which so are in places where none was before.
const LWPS: u32 = 100;

fn rounds() -> u32 {
    if at_full_length() { 30 } else { 8 }
}

/// A child that waits for a word from the caller, makes LWPs and ends. It is bound to a set first.
fn child_that_clones(lwps: u32, set: PsetId) -> Child {
    static NEVER: AtomicU32 = AtomicU32::new(0);
    let go = shared_word();
    let child = Child::new(|| {
        while go.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        for _ in 0..lwps {
            add_lwp(&NEVER).expect("clone");
        }
        end(0)
    });
    pset::bind(set, Who::Process(child.pid)).expect("pset_bind");
    go.store(1, SeqCst);
    child
}

/// Binds the child to the CPU and frees it, by turns, until it is no more.
fn bind_while_it_lives(child: &Child) {
    let who = Who::Process(child.pid);
    for binds in 0.. {
        let both = pset::bind_to_cpu(Some(CPU), who).and_then(|_| pset::bind_to_cpu(None, who));
        match both {
            Ok(_) => {}
            Err(Errno::ESRCH) => return,
            Err(error) => panic!("{error:?} after {binds} binds, though all its LWPs are in one set"),
        }
    }
}

/// Children in a set that has the CPU, which may move to another when they are gone.
fn storm(set: PsetId, other: PsetId) {
    for round in 1..=rounds() {
        let child = child_that_clones(LWPS * (1 + round % 8), set);
        bind_while_it_lives(&child);
        assert_eq!(child.wait(), Ended::Exit(0));
        assert_eq!(
            pset::assign(other, CPU),
            Ok(set),
            "round {round}: nobody is left who could be bound to it"
        );
        assert_eq!(pset::assign(set, CPU), Ok(other));
    }
}

#[test]
fn in_the_default_set() {
    let _alone = alone();
    if cpus() > 1 {
        let other = Set::of(&[]);
        storm(PsetId::DEFAULT, other.0);
    }
}

#[test]
fn in_a_set_of_its_own() {
    let _alone = alone();
    if cpus() > 1 {
        let set = Set::of(&[1]);
        storm(set.0, PsetId::DEFAULT);
    }
}
