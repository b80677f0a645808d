//! Processes and LWPs that cannot be made, and programs that cannot be run, for want of anything: an error, and all is as
//! before. (On the checked kernel; others cannot be made to fail.)

use std::ffi::CString;
use std::ptr;
use std::sync::atomic::AtomicU32;

use guest::{
    Attempt, Child, Ended, PAGE, Pages, add_lwp, address, alone, call, can_fail, each_failure_leaves_nothing,
    end, failing,
};
use syscalls::{Failing, number};
use userlib::Errno::{self, EAGAIN, EFAULT, ENOMEM};
use userlib::process;

fn fork() -> Result<u64, Errno> {
    // SAFETY: the child ends at once.
    let result = unsafe { call(number::fork, &[]) };
    if result == Ok(0) {
        end(0);
    }
    result
}

fn reap(pid: u64) {
    assert_eq!(Child { pid: pid as i32 }.wait(), Ended::Exit(0));
}

#[test]
fn a_fork_that_fails_leaves_nothing() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let pages = Pages::new(600); // under two tables
    (0..600).step_by(97).for_each(|page| pages.write(page * PAGE, 1));
    let without_memory = &[ENOMEM, EAGAIN];
    Attempt { name: "fork", make: &fork, undo: &reap, without_memory, without_copy: &[] }.leaves_nothing();
}

/// What the LWPs wait for.
static NEVER: AtomicU32 = AtomicU32::new(0);

/// Makes an LWP, if need be after several that fail; returns how many did.
fn clone_at_last() -> u64 {
    for number in 1.. {
        match failing(Failing::Allocation, number, || add_lwp(&NEVER)) {
            (Ok(_), false) => return number - 1,
            (Err(ENOMEM | EAGAIN), true) => {}
            other => panic!("clone, allocation {number}: {other:?}"),
        }
    }
    unreachable!("a call does not go on for ever")
}

/// So many that each kind of room runs out for some: spare stacks, the list of the process, slots.
#[test]
fn a_clone_that_fails_leaves_nothing() {
    const LWPS: u64 = 100;
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let in_child = || {
        let failed = (0..LWPS).map(|_| clone_at_last()).sum::<u64>();
        let own = process::next(userlib::raw::getpid() as i32 - 1).expect("this process");
        i32::from(failed < LWPS || u64::from(own.lwps) != LWPS + 1)
    };
    // Slots are made by the chunk: a few children together lose one, if each loses some.
    each_failure_leaves_nothing("clone", |_| {
        (0..4).for_each(|_| assert_eq!(Child::new(in_child).wait(), Ended::Exit(0)));
        Ok(())
    });
}

/// How a child ends that runs another program, while the `number`-th `what` of that call fails: 3 by itself if it could
/// not be run, and 0 by the other program.
fn run(path: &CString, what: Failing, number: u64) -> Ended {
    let arguments = [path.as_ptr(), c"--list".as_ptr(), ptr::null()];
    let words = [address(path.as_ptr()), address(&arguments), address(&arguments[2])];
    let child = Child::new(|| {
        // SAFETY: this process's own descriptors.
        unsafe { libc::dup2(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR), 1) };
        // SAFETY: the strings are there.
        let (result, came) = failing(what, number, || unsafe { call(number::execve, &words) });
        let expected = if what == Failing::Allocation { ENOMEM } else { EFAULT };
        if came && result == Err(expected) { 3 } else { 4 }
    });
    child.wait()
}

#[test]
fn a_program_that_cannot_be_run_leaves_the_old_one() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let path = CString::new(std::env::args().next().expect("argv[0]")).expect("no zero inside");
    each_failure_leaves_nothing("execve", |_| {
        for what in [Failing::Allocation, Failing::Copy] {
            let ends = (1..).map(|number| run(&path, what, number));
            let (failed, ended): (Vec<Ended>, Ended) = until_other(ends, Ended::Exit(3));
            assert_eq!(ended, Ended::Exit(0), "{what:?} {}", failed.len() + 1);
            assert!(failed.len() > 3, "{what:?}: it needs something");
        }
        Ok(())
    });
}

/// All that are as `usual`, and the first that is not.
fn until_other(mut ends: impl Iterator<Item = Ended>, usual: Ended) -> (Vec<Ended>, Ended) {
    let mut before = Vec::new();
    loop {
        match ends.next().expect("it goes on") {
            ended if ended == usual => before.push(ended),
            other => return (before, other),
        }
    }
}
