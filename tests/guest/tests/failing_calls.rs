//! Calls that cannot write their result, or have no memory for what they need meanwhile: an error, and all is as before.
//! (On the checked kernel; others cannot be made to fail.)

use std::fs::File;
use std::io::pipe;
use std::os::fd::AsRawFd;

use guest::{Attempt, Child, PAGE, Pages, address, alone, call, can_fail, failing};
use syscalls::{Failing, number};
use userlib::Errno::{self, EFAULT, ENOMEM};

/// Makes a call with right arguments.
fn make(number: usize, arguments: &[u64]) -> Result<u64, Errno> {
    // SAFETY: the callers name memory and descriptors of their own.
    unsafe { call(number, arguments) }
}

fn descriptor(of: &impl AsRawFd) -> u64 {
    of.as_raw_fd() as u64
}

#[test]
fn a_pipe_that_fails_leaves_nothing() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let ends = [0_i32; 2];
    let make_pipe = || make(number::pipe, &[address(&ends)]);
    let close_both = |_| {
        // SAFETY: the kernel has just written there.
        let ends = unsafe { (&raw const ends).read_volatile() };
        ends.iter().for_each(|&end| assert_eq!(make(number::close, &[end as u64]), Ok(0)));
    };
    let (without_memory, without_copy) = (&[ENOMEM], &[EFAULT]);
    Attempt { name: "pipe", make: &make_pipe, undo: &close_both, without_memory, without_copy }
        .leaves_nothing();
}

#[test]
fn what_cannot_be_written_to_a_pipe_is_not_in_it() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let pages = Pages::new(6);
    pages.fill(7);
    let (reader, writer) = pipe().expect("pipe");
    let write = || make(number::write, &[descriptor(&writer), pages.page(0) + 100, 2 * PAGE]);
    // Were there more than the call said, the next round would find them.
    let read_back = |count: u64| {
        let mut left = count;
        while left > 0 {
            left -= make(number::read, &[descriptor(&reader), pages.page(3), left]).expect("read");
        }
        let mut entry = libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        assert_eq!(make(number::poll, &[address(&raw mut entry), 1, 0]), Ok(0), "more than was written");
    };
    let (without_memory, without_copy) = (&[ENOMEM], &[EFAULT]);
    Attempt { name: "write", make: &write, undo: &read_back, without_memory, without_copy }.leaves_nothing();
}

#[test]
fn a_wait_that_finds_a_bad_place_at_first_leaves_the_child() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let pages = Pages::new(1);
    let child = Child::new(|| 5);
    child.await_end();
    let wait = || make(number::wait4, &[child.pid as u64, pages.page(0), 0, pages.page(0) + 256]);
    for place in [1, 2] {
        assert_eq!(failing(Failing::Copy, place, wait), (Err(EFAULT), true));
    }
    assert_eq!(child.wait(), guest::Ended::Exit(5));
}

/// Calls that fill a place, or need memory meanwhile.
fn ordinary_calls(place: u64, file: u64, path: u64) -> Vec<(usize, Vec<u64>)> {
    vec![
        (number::lwp_info, vec![place]),
        (number::lwp_info32, vec![place]),
        (number::thread_cputime, vec![u64::MAX, place]),
        (number::lwp_microstates, vec![u64::MAX, place]),
        (number::cpu_times, vec![0, place]),
        (number::machine_times, vec![place]),
        (number::proc_times, vec![u64::MAX, place]),
        (number::proc_next, vec![0, place]),
        (number::stat, vec![path, place]),
        (number::fstat, vec![file, place]),
        (number::newfstatat, vec![-100_i64 as u64, path, place, 0]),
        (number::poll, vec![place, 3, 0]),
        (number::rt_sigaction, vec![libc::SIGUSR1 as u64, 0, place, 8]),
        (number::rt_sigprocmask, vec![0, 0, place, 8]),
        (number::sigaltstack, vec![0, place]),
        (number::uname, vec![place]),
        (number::getcwd, vec![place, 64]),
        (number::gettimeofday, vec![place, 0]),
        (number::getrusage, vec![0, place]),
        (number::sysinfo, vec![place]),
        (number::times, vec![place]),
        (number::sched_getaffinity, vec![0, 8, place]),
        (number::clock_gettime, vec![1, place]),
        (number::clock_getres, vec![1, place]),
        (number::prlimit64, vec![0, u64::from(libc::RLIMIT_STACK as u32), 0, place]),
        (number::getrandom, vec![place, 5000, 0]),
        (number::arch_prctl, vec![0x1003, place]),
    ]
}

#[test]
fn calls_that_cannot_tell_leave_nothing() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let own = std::env::args().next().expect("argv[0]");
    let file = File::open(&own).expect("the program itself is a file");
    let path = std::ffi::CString::new(own).expect("no zero inside");
    let pages = Pages::new(4);
    let calls = ordinary_calls(pages.page(1) - 8, descriptor(&file), address(path.as_ptr()));
    for (number, arguments) in calls {
        let name = syscalls::row(number).expect("a row").name;
        let discard = [pages.page(0), 4 * PAGE, libc::MADV_DONTNEED as u64];
        let make = || {
            let result = make(number, &arguments);
            // The pages are to be missing each time, so that the kernel has to get them.
            assert_eq!(make(number::madvise, &discard), Ok(0));
            result
        };
        let (without_memory, without_copy) = (&[EFAULT, ENOMEM], &[EFAULT]);
        Attempt { name, make: &make, undo: &|_| (), without_memory, without_copy }.leaves_nothing();
    }
}
