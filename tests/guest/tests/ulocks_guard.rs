//! Semaphores from Rust: guards for mutual exclusion, typed errors, and the place of the call, which is the caller's.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use guest::address;
use syscalls::sema::{SemaRecord, operation};
use userlib::arena::Options;
use userlib::semaphore::{Guard, Switch};
use userlib::{Arena, Errno, Semaphore};

fn arena() -> Arena {
    Arena::join(c"guards", Options::default()).expect("usinit")
}

/// What only the holder of a guard may touch.
struct Counter(UnsafeCell<u64>);

// SAFETY: the tests touch it under a guard only.
unsafe impl Sync for Counter {}

impl Counter {
    fn count(&self, _guard: &Guard) {
        // SAFETY: there is one guard at a time, which is what is tested.
        unsafe { *self.0.get() += 1 };
    }
}

#[test]
fn a_guard_excludes_and_is_given_back() {
    const ROUNDS: u64 = 2000;
    let (semaphore, counter) = (arena().semaphore(1).expect("usnewsema"), Counter(UnsafeCell::new(0)));
    let count = || {
        for _ in 0..ROUNDS {
            counter.count(&semaphore.lock().expect("P"));
        }
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(count))));
    assert_eq!(counter.0.into_inner(), 4 * ROUNDS);
    assert_eq!(semaphore.count(), Ok(1));
}

#[test]
fn a_guard_is_given_back_by_a_panic() {
    let semaphore = arena().semaphore(1).expect("usnewsema");
    let panics = catch_unwind(AssertUnwindSafe(|| {
        let _guard = semaphore.lock().expect("P");
        panic!("with the guard");
    }));
    assert!(panics.is_err());
    assert_eq!(semaphore.count(), Ok(1));
}

#[test]
fn errors_are_typed() {
    let arena = arena();
    assert_eq!(arena.semaphore(30_001), Err(Errno::EINVAL));
    assert_eq!(arena.semaphore(u32::MAX), Err(Errno::EINVAL));
    let semaphore = arena.semaphore(1).expect("usnewsema");
    assert_eq!(semaphore.meter().map(drop), Err(Errno::EINVAL));
    semaphore.switch(Switch::RecursionOn).expect("it is free");
    assert_eq!(semaphore.v(), Err(Errno::EPERM));
    semaphore.free(arena).expect("usfreesema");
    assert_eq!(semaphore.free(arena), Err(Errno::EINVAL));
    assert_eq!(
        (semaphore.p(), semaphore.v(), semaphore.count()),
        (Err(Errno::EINVAL), Err(Errno::EINVAL), Err(Errno::EINVAL))
    );
}

#[test]
fn a_waiter_of_a_freed_semaphore_is_told() {
    let arena = arena();
    let semaphore = arena.semaphore(0).expect("usnewsema");
    let waiter = thread::spawn(move || (semaphore.p(), semaphore.p()));
    while semaphore.count() != Ok(-1) {
        thread::sleep(Duration::from_micros(300));
    }
    semaphore.free(arena).expect("usfreesema");
    assert_eq!(waiter.join().expect("no panic"), (Err(Errno::EIDRM), Err(Errno::EINVAL)));
}

#[test]
fn patience_has_an_end() {
    let semaphore = arena().semaphore(0).expect("usnewsema");
    let (start, patience) = (Instant::now(), Duration::from_millis(5));
    assert_eq!(semaphore.p_for(patience), Ok(false));
    assert!(start.elapsed() >= patience);
    assert_eq!(semaphore.p_for(Duration::ZERO), Ok(false));
    semaphore.v().expect("V");
    assert_eq!(semaphore.p_for(Duration::MAX), Ok(true));
}

/// Functions of this program that call one operation each.
#[inline(never)]
fn takes(semaphore: Semaphore) {
    semaphore.p().expect("P");
}

#[inline(never)]
fn gives(semaphore: Semaphore) {
    semaphore.v().expect("V");
}

fn assert_in(function: fn(Semaphore), pc: u64) {
    let start = address(function as *const ());
    assert!(pc > start && pc < start + 200, "{pc:#x} is not in the function at {start:#x}");
}

#[test]
fn the_place_of_a_call_is_the_callers() {
    let arena = arena();
    arena.record(true).expect("CONF_HISTON");
    let semaphore = arena.semaphore(1).expect("usnewsema");
    semaphore.switch(Switch::DebugOn).expect("on");
    takes(semaphore);
    assert_in(takes, semaphore.debug().expect("on").owner_pc);
    gives(semaphore);
    let debug = semaphore.debug().expect("on");
    assert_in(gives, debug.last_pc);
    assert_eq!((debug.owner_pid, debug.owner_pc), (-1, u64::MAX));
    let mut records = [SemaRecord::default(); 64];
    let count = arena.records(&mut records).expect("on").entries as usize;
    let own: Vec<_> =
        records[..count].iter().filter(|record| record.semaphore == semaphore.address()).collect();
    assert_eq!(
        own.iter().map(|record| record.operation).collect::<Vec<_>>(),
        [operation::V_NO_WAIT, operation::P_HIT]
    );
    assert_in(gives, own[0].pc);
    assert_in(takes, own[1].pc);
    arena.record(false).expect("CONF_HISTOFF");
}
