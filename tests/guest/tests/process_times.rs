//! CPU time across processes: children's time (K10), totals that never fall (K01), fresh accounts, the machine's law 3
//! (accounting.md), and what may be asked of whom.

use std::thread;
use std::time::Duration;

use guest::{Child, Ended, assert_within, call, call_loop, end, on_icount, sleep_for_ever, user_loop};
use syscalls::number;
use userlib::Errno;
use userlib::clock::{self, Clock};
use userlib::cpu;
use userlib::lwp::{self, CpuTime, LwpId};
use userlib::process::{self, ProcessTimes, Whose, machine_times, proc_times, usage};

const MICROSECOND: Duration = Duration::from_micros(1);
const MILLISECOND: Duration = Duration::from_millis(1);

fn own_times() -> ProcessTimes {
    proc_times(None).expect("proc_times")
}

/// A child that uses about as much user and system time, and its report of how much, to be compared with what the
/// parent is told: both ends of a pipe carry the figures.
fn burning_child() -> Child {
    Child::new(|| {
        user_loop(3_000_000);
        call_loop(30_000);
        0
    })
}

fn to_microseconds(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

#[test]
fn children_count_once_they_are_waited_for() {
    let _alone = guest::alone();
    let before = own_times().children;
    let child = burning_child();
    child.await_end();
    assert_eq!(own_times().children, before, "not before the wait (K10)");
    child.await_end();
    assert_eq!(own_times().children, before, "looking adds nothing");

    let used = proc_times(Some(child.pid)).expect("an ended child answers").own;
    assert!(used.user >= MILLISECOND && used.system >= MILLISECOND, "{used:?}");
    let (ended, told) = child.wait_with_usage();
    assert_eq!(ended, Ended::Exit(0));
    for (told, used) in [(told.ru_utime, used.user), (told.ru_stime, used.system)] {
        assert_within("wait4's figure", to_microseconds(told), used.saturating_sub(MICROSECOND)..=used);
    }
    // Sums of ticks become nanoseconds once: the parts may be floors of each.
    let grown = own_times().children - before;
    let nanosecond = Duration::from_nanos(1);
    assert_within("user", grown.user, used.user.saturating_sub(nanosecond)..=used.user + nanosecond);
    assert_within("system", grown.system, used.system.saturating_sub(nanosecond)..=used.system + nanosecond);
}

#[test]
fn grandchildren_count_through_their_parent() {
    let _alone = guest::alone();
    let before = own_times().children.total();
    let child = Child::new(|| i32::from(burning_child().wait() != Ended::Exit(0)));
    assert_eq!(child.wait(), Ended::Exit(0));
    assert!(own_times().children.total() - before >= 2 * MILLISECOND);
}

#[test]
fn children_that_nobody_waits_for_do_not_count() {
    let _alone = guest::alone();
    let parent = Child::new(|| {
        // SAFETY: ignores a signal that nobody here waits for.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let _vanishes = burning_child();
        // SAFETY: no place to write to.
        while unsafe { libc::wait(std::ptr::null_mut()) } > 0 {}
        i32::from(own_times().children != CpuTime::default())
    });
    assert_eq!(parent.wait(), Ended::Exit(0));
}

#[test]
fn getrusage_and_times_tell_the_same_of_children() {
    let _alone = guest::alone();
    assert_eq!(burning_child().wait(), Ended::Exit(0));
    let exact = own_times().children;
    let children = usage(Whose::Children).expect("getrusage");
    assert_eq!(children.time.user, floor(exact.user, MICROSECOND));
    assert_eq!(children.time.system, floor(exact.system, MICROSECOND));
    assert!(children.faults > 0, "a child has page faults");
    let times = process::times().expect("times").children;
    let tick = Duration::from_millis(10);
    assert_eq!((times.user, times.system), (floor(exact.user, tick), floor(exact.system, tick)));
}

fn floor(time: Duration, unit: Duration) -> Duration {
    Duration::from_nanos((time.as_nanos() / unit.as_nanos() * unit.as_nanos()) as u64)
}

#[test]
fn a_child_starts_at_zero() {
    let _alone = guest::alone();
    user_loop(2_000_000);
    call_loop(20_000);
    let child = Child::new(|| {
        // First of all, before anything else of the library runs for long.
        let (lwp, process) = (lwp::info().expect("_lwp_info").total(), own_times());
        let most = if on_icount() { Duration::from_micros(300) } else { Duration::from_millis(300) };
        let fresh = lwp <= most && process.own.total() <= most && process.children == CpuTime::default();
        i32::from(!fresh)
    });
    assert_eq!(child.wait(), Ended::Exit(0));
}

#[test]
fn other_processes_clocks_can_be_read() {
    let _alone = guest::alone();
    let child = Child::new(|| {
        loop {
            user_loop(100_000);
        }
    });
    let clock = Clock::of_process(child.pid);
    let mut last = Duration::ZERO;
    while last < 3 * MILLISECOND {
        let now = clock::now(clock).expect("the clock of a child");
        assert!(now >= last, "{now:?} after {last:?}");
        last = now;
        thread::sleep(MILLISECOND);
    }
    let before = clock::now(clock).expect("clock");
    let times = proc_times(Some(child.pid)).expect("proc_times").own.total();
    let after = clock::now(clock).expect("clock");
    // Each of its two parts is a floor.
    let before = before - Duration::from_nanos(2);
    assert_within("proc_times", times, before..=after);
    // LWPs' clocks are their own process's only, as on Linux; AIX's call knows no such limit.
    assert_eq!(clock::now(Clock::of_lwp(LwpId::from_raw(child.pid))), Err(Errno::EINVAL));
    assert!(lwp::cputime(LwpId::from_raw(child.pid)).expect("thread_cputime").total() >= before);
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    assert_eq!(clock::now(clock), Err(Errno::EINVAL));
}

#[test]
fn odd_processes_are_refused() {
    let _alone = guest::alone();
    for (pid, errno) in
        [(0, Errno::EINVAL), (-2, Errno::EINVAL), (i32::MIN, Errno::EINVAL), (1 << 20, Errno::ESRCH)]
    {
        assert_eq!(proc_times(Some(pid)), Err(errno), "proc_times({pid})");
        // SAFETY: a bad id: nothing is written.
        assert_eq!(unsafe { call(number::proc_times, &[pid as u64, 16]) }, Err(errno), "before the pointer");
    }
    for number in [number::proc_times, number::machine_times, number::proc_next] {
        let first = if number == number::machine_times { 16 } else { 0 };
        let first = if number == number::proc_times { u64::MAX } else { first };
        // SAFETY: nothing can be written there.
        assert_eq!(unsafe { call(number, &[first, 16]) }, Err(Errno::EFAULT), "call {number:#x}");
    }
}

#[test]
fn all_time_of_all_lwps_is_all_time_of_all_cpus() {
    let _alone = guest::alone();
    let mut before = machine_times().expect("machine_times");
    let spinner = Child::new(|| {
        loop {
            call_loop(100);
        }
    });
    let sleeper = Child::new(|| {
        loop {
            thread::sleep(Duration::from_micros(300));
        }
    });
    for round in 0..40 {
        let brief = Child::new(|| {
            user_loop(20_000);
            thread::scope(|scope| {
                scope.spawn(|| call_loop(100));
            });
            0
        });
        let now = machine_times().expect("machine_times");
        assert_eq!(now.lwps, now.cpus, "law 3, round {round}");
        for (earlier, later) in [
            (before.lwps.user, now.lwps.user),
            (before.lwps.system, now.lwps.system),
            (before.irq, now.irq),
            (before.idle, now.idle),
        ] {
            assert!(earlier <= later, "a total fell: {before:?}, {now:?} (K01)");
        }
        before = now;
        assert_eq!(brief.wait(), Ended::Exit(0));
    }
    for child in [spinner, sleeper] {
        child.kill(libc::SIGKILL);
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    }
    let now = machine_times().expect("machine_times");
    assert_eq!(now.lwps, now.cpus, "law 3, at the end");
}

#[test]
fn the_cpus_totals_do_not_fall_when_processes_end() {
    let _alone = guest::alone();
    let busy = || cpu::all().map(|(_, times)| times.user + times.system).sum::<Duration>();
    let mut last = busy();
    for _ in 0..20 {
        assert_eq!(burning_child().wait(), Ended::Exit(0));
        let now = busy();
        assert!(now >= last + 2 * MILLISECOND, "{now:?} after {last:?} (K01)");
        last = now;
    }
}

#[test]
fn the_machine_is_user_0s_to_ask() {
    let _alone = guest::alone();
    let child = Child::new(|| {
        // SAFETY: this process alone becomes another user's.
        unsafe { call(number::setuid, &[1000]) }.expect("setuid");
        i32::from(machine_times() != Err(Errno::EPERM) || proc_times(Some(1)).is_err())
    });
    assert_eq!(child.wait(), Ended::Exit(0));
}

#[test]
fn the_list_has_every_process_once() {
    let _alone = guest::alone();
    let children: Vec<Child> = (0..5).map(|_| Child::new(|| sleep_for_ever())).collect();
    let ended = Child::new(|| 0);
    ended.await_end();
    thread::sleep(5 * MILLISECOND);
    let all: Vec<_> = process::all().collect();
    assert!(all.is_sorted_by(|a, b| a.pid < b.pid), "{all:?}");
    let own_pid = std::process::id() as i32;
    let find = |pid: i32| all.iter().find(|info| info.pid == pid).expect("in the list");
    assert_eq!(find(own_pid).state, syscalls::proc_state::RUNNING);
    for child in &children {
        let info = find(child.pid);
        assert_eq!((info.parent, info.lwps, info.state), (own_pid, 1, syscalls::proc_state::SLEEPING));
        assert_eq!((info.name, info.group, info.uid), (find(own_pid).name, find(own_pid).group, 0));
    }
    let info = find(ended.pid);
    assert_eq!((info.parent, info.lwps, info.state), (own_pid, 0, syscalls::proc_state::ENDED));
    let name = std::env::args().next().expect("argv[0]");
    let expected = &name.trim_start_matches('/').as_bytes()[..name.len().min(33) - 1];
    assert_eq!(&find(own_pid).name[..expected.len()], expected);
    let last = all.last().expect("somebody").pid;
    assert_eq!(process::next(last), Err(Errno::ESRCH));
    assert_eq!(process::next(-1), Err(Errno::EINVAL));
    for child in children {
        child.kill(libc::SIGKILL);
        assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
    }
    assert_eq!(ended.wait(), Ended::Exit(0));
}

#[test]
fn another_program_keeps_the_time() {
    let _alone = guest::alone();
    // The exec itself is one more thing that an LWP does: it starts no new account (law 6).
    let child = Child::new(|| {
        user_loop(3_000_000);
        let name = std::ffi::CString::new(std::env::args().next().expect("argv[0]")).expect("a string");
        let filter = c"--list";
        let arguments = [name.as_ptr(), filter.as_ptr(), std::ptr::null()];
        let null = c"/dev/null";
        // SAFETY: this process's own descriptors; the strings are there.
        unsafe {
            let sink = libc::open(null.as_ptr(), libc::O_RDWR);
            libc::dup2(sink, 1);
            libc::execv(name.as_ptr(), arguments.as_ptr());
        }
        end(99)
    });
    child.await_end();
    let used = proc_times(Some(child.pid)).expect("proc_times").own;
    assert_eq!(child.wait(), Ended::Exit(0));
    assert!(used.user >= 2 * MILLISECOND, "{used:?}");
}
