//! Arenas leave nothing behind, whoever was in them: their memory is the machine's again when the last member is gone, by
//! whatever end, with LWPs waiting or not.

use std::thread;
use std::time::Duration;

use guest::{Child, Ended, alone, end, leaves_nothing};
use userlib::arena::Options;
use userlib::semaphore::Switch;
use userlib::{Arena, Semaphore};

fn join() -> Arena {
    Arena::join(c"left over", Options::default()).expect("usinit")
}

fn leave(arena: Arena) {
    // SAFETY: nothing that this program goes on with lies there.
    unsafe { arena.leave() }.expect("usdetach");
}

/// Semaphores with everything on, and waiters.
fn full_of_everything(arena: Arena) -> Semaphore {
    arena.record(true).expect("CONF_HISTON");
    let semaphore = arena.semaphore(0).expect("usnewsema");
    for what in [Switch::MeterOn, Switch::DebugOn] {
        semaphore.switch(what).expect("on");
    }
    for _ in 0..3 {
        thread::spawn(move || semaphore.p());
    }
    while semaphore.count() != Ok(-3) {
        thread::sleep(Duration::from_micros(300));
    }
    semaphore
}

#[test]
fn an_arena_goes_with_its_last_member() {
    let _alone = alone();
    leaves_nothing("usinit, usdetach", || {
        let arena = join();
        arena.allocate(1000).expect("usmalloc");
        arena.semaphore(1).expect("usnewsema");
        leave(arena);
    });
}

/// A V wakes them: the arena does not believe that they wait still.
#[test]
fn an_arena_goes_where_lwps_have_waited() {
    let _alone = alone();
    leaves_nothing("P and V", || {
        let arena = join();
        let semaphore = arena.semaphore(0).expect("usnewsema");
        thread::scope(|scope| {
            scope.spawn(move || semaphore.p().expect("P"));
            while semaphore.count() != Ok(-1) {
                thread::sleep(Duration::from_micros(300));
            }
            semaphore.v().expect("V");
        });
        assert_eq!(semaphore.p_for(Duration::from_micros(100)), Ok(false));
        leave(arena);
        assert_eq!(join().status().expect("status").semaphores, 0, "a new one");
        leave(arena);
    });
}

#[test]
fn an_arena_goes_with_a_process_that_ends_with_waiters() {
    let _alone = alone();
    leaves_nothing("exit", || {
        let child = Child::new(|| {
            full_of_everything(join());
            end(0)
        });
        assert_eq!(child.wait(), Ended::Exit(0));
    });
}

#[test]
fn an_arena_goes_with_a_process_that_is_killed_with_waiters() {
    let _alone = alone();
    leaves_nothing("kill", || {
        let child = Child::new(|| {
            full_of_everything(join());
            guest::sleep_for_ever()
        });
        thread::sleep(Duration::from_millis(5));
        child.kill(libc::SIGKILL);
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    });
}
