//! Arenas and semaphores that cannot be made, or have no memory in the kernel for what they keep: an error, and nothing is
//! left behind. (On the checked kernel; others cannot be made to fail.)

use guest::{Attempt, alone, can_fail};
use userlib::arena::Options;
use userlib::semaphore::Switch;
use userlib::{Arena, Errno, Semaphore};

const WITHOUT_MEMORY: &[Errno] = &[Errno::ENOMEM];
const WITHOUT_COPY: &[Errno] = &[Errno::EFAULT];

/// An arena of this test's own.
fn arena() -> Arena {
    Arena::join(c"fails", Options::default()).expect("usinit")
}

fn leave(arena: Arena) {
    // SAFETY: nothing that this program goes on with lies there.
    unsafe { arena.leave() }.expect("usdetach");
}

fn done(result: Result<(), Errno>) -> Result<u64, Errno> {
    result.map(|()| 0)
}

#[test]
fn an_arena_that_cannot_be_made_leaves_nothing() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let make = || Arena::join(c"cannot be made", Options::default()).map(Arena::address);
    let undo = |address| leave(Arena::from_address(address));
    Attempt {
        name: "usinit",
        make: &make,
        undo: &undo,
        without_memory: WITHOUT_MEMORY,
        without_copy: WITHOUT_COPY,
    }
    .leaves_nothing();
}

/// In an arena that stays: what a failed call took from it would be missing in the end.
#[test]
fn a_semaphore_that_cannot_be_made_takes_nothing_of_the_arena() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let arena = arena();
    let used = || arena.status().expect("status").used;
    let first = arena.semaphore(1).expect("usnewsema");
    first.free(arena).expect("usfreesema");
    for number in 1.. {
        let before = used();
        let (result, came) = guest::failing(syscalls::Failing::Allocation, number, || arena.semaphore(1));
        match result {
            Ok(semaphore) => semaphore.free(arena).expect("usfreesema"),
            Err(errno) => assert_eq!((errno, used()), (Errno::ENOMEM, before)),
        }
        if !came {
            break;
        }
    }
    leave(arena);
}

fn switching_leaves_nothing(name: &str, on: Switch, off: Switch) {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let arena = arena();
    let semaphore = arena.semaphore(1).expect("usnewsema");
    let used = arena.status().expect("status").used;
    let make = || done(semaphore.switch(on));
    let undo = |_| {
        semaphore.switch(off).expect("off");
        works(semaphore);
        assert_eq!(arena.status().expect("status").used, used, "all of the arena's memory is back");
    };
    Attempt { name, make: &make, undo: &undo, without_memory: WITHOUT_MEMORY, without_copy: &[] }
        .leaves_nothing();
    works(semaphore);
    leave(arena);
}

fn works(semaphore: Semaphore) {
    assert_eq!((semaphore.p(), semaphore.try_p(), semaphore.v()), (Ok(()), Ok(false), Ok(())));
}

#[test]
fn a_meter_that_cannot_be_switched_on_leaves_nothing() {
    switching_leaves_nothing("CS_METERON", Switch::MeterOn, Switch::MeterOff);
}

#[test]
fn a_debug_record_that_cannot_be_switched_on_leaves_nothing() {
    switching_leaves_nothing("CS_DEBUGON", Switch::DebugOn, Switch::DebugOff);
}

/// The operation is done, and the record that could not be kept is counted.
#[test]
fn records_without_memory_are_counted() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let arena = arena();
    arena.record(true).expect("CONF_HISTON");
    let semaphore = arena.semaphore(1).expect("usnewsema");
    let mut operations = 0;
    for number in 1..4 {
        for _ in 0..40 {
            let (result, _) = guest::failing(syscalls::Failing::Allocation, number, || semaphore.p());
            assert_eq!(result, Ok(()), "P needs no memory");
            assert_eq!(semaphore.v(), Ok(()));
            operations += 2;
        }
    }
    let records = arena.records(&mut []).expect("CONF_HISTFETCH");
    assert_eq!(records.entries + records.errors, operations);
    assert_eq!(semaphore.count(), Ok(1));
    leave(arena);
}
