//! K30: a bad pointer of any kind to any call gives EFAULT, and nothing is written.
//!
//! On Linux a call may have written part of its result before it finds the bad page; `nothing_is_written` holds for
//! tally only.
//!
//! (Red where the kernel does not look at the end of user space, does not touch both pages before it writes to two, or
//! lets a fault write where the region does not permit it: then for ever.)

use std::fs::File;
use std::os::fd::AsRawFd;

use guest::{Room, address, bad_pointers, call};
use syscalls::number;
use userlib::Errno;

/// A call that must fail for one argument alone.
struct Case {
    number: usize,
    arguments: Vec<u64>,
    /// Which argument is the pointer.
    pointer: usize,
    /// How many bytes it points to.
    size: u64,
    written: bool,
    /// Whether null means "not wanted".
    null_is_good: bool,
}

fn fetched(number: usize, arguments: &[u64], pointer: usize, size: u64) -> Case {
    Case { number, arguments: arguments.to_vec(), pointer, size, written: true, null_is_good: false }
}

fn handed_in(number: usize, arguments: &[u64], pointer: usize, size: u64) -> Case {
    Case { written: false, ..fetched(number, arguments, pointer, size) }
}

fn or_null(case: Case) -> Case {
    Case { null_is_good: true, ..case }
}

const AT_FDCWD: u64 = -100_i64 as u64;
const CALLER: u64 = u64::MAX;

fn own_calls() -> Vec<Case> {
    vec![
        fetched(number::lwp_info, &[0], 0, 32),
        fetched(number::lwp_info32, &[0], 0, 16),
        fetched(number::thread_cputime, &[CALLER, 0], 1, 16),
        fetched(number::thread_cputime, &[userlib::lwp::current().raw() as u64, 0], 1, 16),
        fetched(number::lwp_microstates, &[CALLER, 0], 1, 48),
        fetched(number::cpu_times, &[0, 0], 1, 40),
    ]
}

fn calls_that_fill(file: u64, path: u64) -> Vec<Case> {
    vec![
        fetched(number::read, &[file, 0, 64], 1, 64),
        fetched(number::stat, &[path, 0], 1, 144),
        fetched(number::lstat, &[path, 0], 1, 144),
        fetched(number::fstat, &[file, 0], 1, 144),
        fetched(number::newfstatat, &[AT_FDCWD, path, 0, 0], 2, 144),
        fetched(number::poll, &[0, 1, 0], 0, 8),
        or_null(fetched(number::rt_sigaction, &[libc::SIGUSR1 as u64, 0, 0, 8], 2, 32)),
        or_null(fetched(number::rt_sigprocmask, &[0, 0, 0, 8], 2, 8)),
        or_null(fetched(number::sigaltstack, &[0, 0], 1, 24)),
        fetched(number::uname, &[0], 0, 390),
        fetched(number::getcwd, &[0, 64], 0, 2),
        or_null(fetched(number::gettimeofday, &[0, 0], 0, 16)),
        fetched(number::getrusage, &[0, 0], 1, 144),
        fetched(number::sysinfo, &[0], 0, 112),
        or_null(fetched(number::times, &[0], 0, 32)),
        fetched(number::sched_getaffinity, &[0, 8, 0], 2, 8),
        fetched(number::clock_gettime, &[1, 0], 1, 16),
        fetched(number::clock_gettime, &[0, 0], 1, 16),
        fetched(number::clock_gettime, &[2, 0], 1, 16),
        fetched(number::clock_gettime, &[3, 0], 1, 16),
        or_null(fetched(number::clock_getres, &[1, 0], 1, 16)),
        or_null(fetched(number::prlimit64, &[0, libc::RLIMIT_STACK as u64, 0, 0], 3, 16)),
        fetched(number::getrandom, &[0, 64, 0], 0, 64),
        fetched(number::arch_prctl, &[0x1003, 0], 1, 8),
    ]
}

fn calls_that_read(file: u64) -> Vec<Case> {
    let folder = AT_FDCWD;
    vec![
        handed_in(number::write, &[1, 0, 64], 1, 64),
        handed_in(number::open, &[0, 0, 0], 0, 2),
        handed_in(number::openat, &[folder, 0, 0, 0], 1, 2),
        handed_in(number::stat, &[0, 0], 0, 2),
        handed_in(number::readv, &[file, 0, 1], 1, 16),
        handed_in(number::writev, &[1, 0, 1], 1, 16),
        or_null(handed_in(number::rt_sigaction, &[libc::SIGUSR1 as u64, 0, 0, 8], 1, 32)),
        or_null(handed_in(number::rt_sigprocmask, &[0, 0, 0, 8], 1, 8)),
        or_null(handed_in(number::sigaltstack, &[0, 0], 0, 24)),
        handed_in(number::nanosleep, &[0, 0], 0, 16),
        handed_in(number::clock_nanosleep, &[1, 0, 0, 0], 2, 16),
        or_null(handed_in(number::prlimit64, &[0, libc::RLIMIT_STACK as u64, 0, 0], 2, 16)),
    ]
}

/// Tries the case with every kind of bad pointer, and looks whether anything was written.
fn refuse_all(cases: &[Case]) {
    let room = Room::default();
    for case in cases {
        for bad in bad_pointers(&room, case.size, case.written) {
            if case.null_is_good && bad.address == 0 {
                continue;
            }
            let mut arguments = case.arguments.clone();
            arguments[case.pointer] = bad.address;
            // SAFETY: the call has nothing to write to but the bad pointer's room.
            let result = unsafe { call(case.number, &arguments) };
            let name = syscalls::row(case.number).expect("a row").name;
            assert_eq!(result, Err(Errno::EFAULT), "{name}, argument {}: {}", case.pointer, bad.what);
            assert_eq!(room.changed(), None, "{name} wrote through a pointer that it refused ({})", bad.what);
        }
    }
}

fn own_program() -> (File, std::ffi::CString) {
    let path = std::env::args().next().expect("argv[0]");
    (File::open(&path).expect("the program itself is a file"), std::ffi::CString::new(path).expect("a path"))
}

#[test]
fn own_calls_refuse_bad_pointers() {
    refuse_all(&own_calls());
}

#[test]
fn calls_that_fill_refuse_bad_pointers() {
    let (file, path) = own_program();
    refuse_all(&calls_that_fill(file.as_raw_fd() as u64, address(path.as_ptr())));
}

#[test]
fn calls_that_read_refuse_bad_pointers() {
    let (file, _) = own_program();
    refuse_all(&calls_that_read(file.as_raw_fd() as u64));
}

#[test]
fn a_bad_buffer_in_a_vector_is_refused() {
    let (file, _) = own_program();
    let room = Room::default();
    for bad in bad_pointers(&room, 16, true) {
        let vector = [bad.address, 16];
        let arguments = [file.as_raw_fd() as u64, address(&vector), 1];
        // SAFETY: the call has nothing to write to but the bad pointer's room.
        let result = unsafe { call(number::readv, &arguments) };
        assert_eq!(result, Err(Errno::EFAULT), "readv: {}", bad.what);
        assert_eq!(room.changed(), None, "readv wrote ({})", bad.what);
    }
}

#[test]
fn futex_refuses_bad_words() {
    let room = Room::default();
    let (wait, wake) = (libc::FUTEX_WAIT as u64, libc::FUTEX_WAKE as u64);
    for bad in bad_pointers(&room, 4, false).iter().filter(|bad| bad.address % 4 == 0) {
        // SAFETY: a word is read, and not slept on where it cannot be.
        let result = unsafe { call(number::futex, &[bad.address, wait, 0, 0, 0, 0]) };
        assert_eq!(result, Err(Errno::EFAULT), "wait: {}", bad.what);
        // SAFETY: nothing waits there.
        let result = unsafe { call(number::futex, &[bad.address, wake, 1, 0, 0, 0]) };
        assert!(matches!(result, Ok(0) | Err(Errno::EFAULT)), "wake: {}: {result:?}", bad.what);
    }
}

#[test]
fn null_means_not_wanted_where_the_page_says_so() {
    let (file, path) = own_program();
    let fill = calls_that_fill(file.as_raw_fd() as u64, address(path.as_ptr()));
    for case in fill.iter().chain(&calls_that_read(0)).filter(|case| case.null_is_good) {
        // SAFETY: nothing is written.
        let result = unsafe { call(case.number, &case.arguments) };
        assert!(result.is_ok(), "{}: {result:?}", syscalls::row(case.number).expect("a row").name);
    }
}

#[test]
fn a_string_may_end_at_the_last_byte_before_a_hole() {
    let pages = guest::Pages::new(2);
    pages.unmap(1, 1).expect("munmap");
    let absent = b"/absent\0";
    let start = pages.page(1) - absent.len() as u64;
    for (index, &byte) in absent.iter().enumerate() {
        pages.write(guest::PAGE - absent.len() as u64 + index as u64, byte);
    }
    // SAFETY: a string of this test's own.
    assert_eq!(unsafe { call(number::open, &[start, 0, 0]) }, Err(Errno::ENOENT));
    // One byte further the terminator is gone.
    pages.write(guest::PAGE - 1, b'x');
    // SAFETY: as above; there is no page behind it.
    assert_eq!(unsafe { call(number::open, &[start, 0, 0]) }, Err(Errno::EFAULT));
}

#[test]
fn unaligned_pointers_are_good() {
    let pages = guest::Pages::new(2);
    for offset in [1, 3, 7, guest::PAGE - 5, guest::PAGE - 31] {
        let place = pages.page(0) + offset;
        for (number, arguments) in [
            (number::lwp_info, [place, 0]),
            (number::clock_gettime, [1, place]),
            (number::getrusage, [0, place]),
            (number::uname, [place, 0]),
        ] {
            // SAFETY: two pages are there, and no structure is longer than one.
            let result = unsafe { call(number, &arguments) };
            assert_eq!(result, Ok(0), "{} at offset {offset}", syscalls::row(number).expect("a row").name);
        }
    }
}

#[test]
fn exactly_the_documented_bytes_are_written() {
    let (file, path) = own_program();
    let mut cases = calls_that_fill(file.as_raw_fd() as u64, address(path.as_ptr()));
    cases.extend(own_calls());
    let pages = guest::Pages::new(1);
    for case in cases.iter().filter(|case| ![number::getcwd, number::poll].contains(&case.number)) {
        pages.fill(0xc5);
        let mut arguments = case.arguments.clone();
        arguments[case.pointer] = pages.page(0) + 512;
        let name = syscalls::row(case.number).expect("a row").name;
        // SAFETY: the page has room on both sides.
        let result = unsafe { call(case.number, &arguments) };
        assert!(result.is_ok(), "{name}: {result:?}");
        let outside = (0..512).chain(512 + case.size..guest::PAGE).find(|&offset| pages.read(offset) != 0xc5);
        assert_eq!(
            outside.map(|at| at as i64 - 512),
            None,
            "{name} wrote outside of its {} bytes",
            case.size
        );
    }
}

#[test]
fn k31_refused_pointers_leave_no_lock_behind() {
    let own = userlib::lwp::current().raw() as u64;
    for _ in 0..1000 {
        for (number, first) in [
            (number::thread_cputime, own),
            (number::lwp_microstates, own),
            (number::cpu_times, 0),
            (number::clock_gettime, 2),
            (number::getrusage, 0),
        ] {
            // SAFETY: null is refused.
            assert_eq!(unsafe { call(number, &[first, 0]) }, Err(Errno::EFAULT));
        }
    }
    userlib::lwp::microstates(userlib::lwp::current()).expect("lwp_microstates");
    userlib::cpu::times(userlib::cpu::CpuId::from_raw(0)).expect("cpu_times");
    std::thread::spawn(userlib::raw::getpid).join().expect("a thread starts and ends");
}
