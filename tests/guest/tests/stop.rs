//! Stopping and going on, as far as default actions go: who stops, when the parent is told, and where the time goes
//! (kill(2), wait(2), waitid(2), signal(7)).

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Child, Ended, assert_parts_make_the_whole, shared_word, sleep_for_ever};
use userlib::lwp::{self, LwpId};

const WAIT_STOPPED: i32 = libc::WUNTRACED;

/// `wait4` for one child; the status word, None where there is nothing to tell.
fn wait(child: &Child, options: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: the place is this function's own.
    match unsafe { libc::waitpid(child.pid, &raw mut status, options) } {
        0 => None,
        pid => {
            assert_eq!(pid, child.pid, "waitpid: {}", io::Error::last_os_error());
            Some(status)
        }
    }
}

#[track_caller]
fn assert_stopped(child: &Child, signal: i32) {
    let status = wait(child, WAIT_STOPPED).expect("a wait that blocks has something to tell");
    assert!(libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == signal, "{status:#x}");
}

#[track_caller]
fn assert_goes_on(child: &Child) {
    let status = wait(child, libc::WCONTINUED).expect("a wait that blocks has something to tell");
    assert!(libc::WIFCONTINUED(status), "{status:#x}");
}

fn count_for_ever(counter: &AtomicU32) -> ! {
    loop {
        counter.fetch_add(1, Relaxed);
    }
}

fn await_change(counter: &AtomicU32) {
    let before = counter.load(Relaxed);
    let start = Instant::now();
    while counter.load(Relaxed) == before {
        assert!(start.elapsed() < Duration::from_secs(10), "the child does not run");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_stopped_process_runs_nothing_until_it_goes_on() {
    let _alone = guest::alone();
    let counter = shared_word();
    let child = Child::new(|| {
        for _ in 0..3 {
            thread::spawn(|| count_for_ever(counter));
        }
        count_for_ever(counter)
    });
    for signal in [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
        await_change(counter);
        child.kill(signal);
        assert_stopped(&child, signal);
        let at_rest = counter.load(Relaxed);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(counter.load(Relaxed), at_rest, "all four LWPs have stopped when the parent is told");
        assert_eq!(wait(&child, WAIT_STOPPED | libc::WCONTINUED | libc::WNOHANG), None, "told once");
        child.kill(libc::SIGCONT);
        assert_goes_on(&child);
        assert_eq!(wait(&child, WAIT_STOPPED | libc::WCONTINUED | libc::WNOHANG), None, "told once");
    }
    await_change(counter);
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
}

/// Longer than a busy host keeps a test from running.
const LONG: Duration = Duration::from_millis(400);

/// Whatever an LWP waits for: it is stopped, its wait is not disturbed, and its time is the stopped state's.
#[test]
fn waits_are_stopped_and_go_on() {
    let _alone = guest::alone();
    let (reader, mut writer) = io::pipe().expect("pipe");
    let (mut begun, tell_begun) = io::pipe().expect("pipe");
    let (mut done, tell_done) = io::pipe().expect("pipe");
    let ways: [&dyn Fn(); 4] = [
        &|| assert_eq!((&reader).read(&mut [0]).expect("read"), 1),
        &|| {
            let start = Instant::now();
            thread::sleep(LONG);
            assert!(start.elapsed() >= LONG);
        },
        &|| {
            assert_eq!(
                Child::new(|| {
                    thread::sleep(LONG);
                    7
                })
                .wait(),
                Ended::Exit(7)
            )
        },
        &|| {
            let pair = (std::sync::Mutex::new(()), std::sync::Condvar::new());
            let (_guard, result) = pair.1.wait_timeout_while(pair.0.lock().unwrap(), LONG, |_| true).unwrap();
            assert!(result.timed_out());
        },
    ];
    for (number, way) in ways.iter().enumerate() {
        let child = Child::new(|| {
            (&tell_begun).write_all(b"x").expect("write");
            way();
            (&tell_done).write_all(&[number as u8]).expect("write");
            0
        });
        begun.read_exact(&mut [0]).expect("it gets so far");
        thread::sleep(Duration::from_millis(5));
        child.kill(libc::SIGSTOP);
        assert_stopped(&child, libc::SIGSTOP);
        let before = lwp::microstates(LwpId::from_raw(child.pid)).expect("it lives");
        thread::sleep(Duration::from_millis(30));
        let after = lwp::microstates(LwpId::from_raw(child.pid)).expect("it lives");
        // What it waits for may come meanwhile: it takes it, in the kernel, and stops again.
        let elsewhere = (after.system - before.system) + (after.runnable - before.runnable);
        assert!(after.stopped - before.stopped + elsewhere >= Duration::from_millis(30), "way {number}");
        assert_eq!((after.user, after.sleeping), (before.user, before.sleeping), "way {number}");
        let parts = [after.user, after.system, after.runnable, after.sleeping, after.stopped];
        assert_parts_make_the_whole("law 2", parts.iter().sum(), 5, after.lifetime);
        if number == 0 {
            writer.write_all(b"x").expect("write"); // comes while it is stopped
        }
        thread::sleep(LONG); // and so do the ends of the other waits
        child.kill(libc::SIGCONT);
        assert_goes_on(&child);
        done.read_exact(&mut [0]).expect("it gets on");
        assert_eq!(child.wait(), Ended::Exit(0), "way {number}");
    }
}

#[test]
fn a_signal_that_ends_waits_until_a_stopped_process_goes_on_but_kill_does_not() {
    let _alone = guest::alone();
    let child = Child::new(|| sleep_for_ever());
    child.kill(libc::SIGSTOP);
    assert_stopped(&child, libc::SIGSTOP);
    child.kill(libc::SIGTERM);
    assert_eq!(wait(&child, libc::WNOHANG), None, "it is stopped");
    child.kill(libc::SIGCONT);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGTERM));

    let child = Child::new(|| sleep_for_ever());
    child.kill(libc::SIGSTOP);
    assert_stopped(&child, libc::SIGSTOP);
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
}

#[test]
fn stops_are_not_told_to_who_does_not_ask_and_ends_not_either() {
    let _alone = guest::alone();
    let child = Child::new(|| sleep_for_ever());
    child.kill(libc::SIGSTOP);
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let mut look = |options: i32| {
        // SAFETY: the place is this function's own.
        let result = unsafe { libc::waitid(libc::P_PID, child.pid as u32, &raw mut info, options) };
        assert_eq!(result, 0, "waitid: {}", io::Error::last_os_error());
        // SAFETY: `waitid` has filled it in.
        (info.si_code, unsafe { info.si_status() })
    };
    assert_eq!(look(libc::WSTOPPED | libc::WNOWAIT), (libc::CLD_STOPPED, libc::SIGSTOP));
    assert_eq!(look(libc::WEXITED | libc::WCONTINUED | libc::WNOHANG).0, 0, "nobody asked for stops");
    assert_eq!(look(libc::WSTOPPED), (libc::CLD_STOPPED, libc::SIGSTOP), "it was left to be told");
    child.kill(libc::SIGCONT);
    assert_eq!(look(libc::WCONTINUED), (libc::CLD_CONTINUED, libc::SIGCONT));
    child.kill(libc::SIGKILL);
    child.await_end();
    assert_eq!(look(libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG).0, 0, "nobody asked for ends");
    assert_eq!(look(libc::WEXITED), (libc::CLD_KILLED, libc::SIGKILL));
}

/// SIGSTOP cannot be ignored, the stops of the terminal can; SIGCONT has its effect even so.
#[test]
fn ignored_stops() {
    let _alone = guest::alone();
    let (mut ready, tell_ready) = io::pipe().expect("pipe");
    let child = Child::new(|| {
        for signal in [libc::SIGTSTP, libc::SIGCONT] {
            // SAFETY: to ignore a signal runs no code.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        (&tell_ready).write_all(b"x").expect("write");
        sleep_for_ever()
    });
    ready.read_exact(&mut [0]).expect("it gets so far");
    child.kill(libc::SIGTSTP);
    child.kill(libc::SIGSTOP);
    assert_stopped(&child, libc::SIGSTOP);
    child.kill(libc::SIGCONT);
    assert_goes_on(&child);
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
}

/// Stop, go on, at any moment, against LWPs that come and go: whatever was told last is true in the end.
#[test]
fn a_storm_of_stops() {
    let _alone = guest::alone();
    let rounds = if guest::on_icount() { 100 } else { 300 };
    let counter = shared_word();
    let child = Child::new(|| {
        loop {
            let threads: Vec<_> = (0..3).map(|_| thread::spawn(|| counter.fetch_add(1, Relaxed))).collect();
            threads.into_iter().for_each(|thread| _ = thread.join());
        }
    });
    for round in 0..rounds {
        child.kill(libc::SIGSTOP);
        if round % 3 == 0 {
            assert_stopped(&child, libc::SIGSTOP);
            let at_rest = counter.load(Relaxed);
            thread::yield_now();
            assert_eq!(counter.load(Relaxed), at_rest);
        }
        child.kill(libc::SIGCONT);
        if round % 5 == 0 {
            await_change(counter);
        }
    }
    child.kill(libc::SIGSTOP);
    assert_stopped(&child, libc::SIGSTOP);
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
}

/// K10: what stops and goes on is told, and adds nothing to the time of the children that were waited for.
#[test]
fn k10_stops_add_nothing_to_the_childrens_time() {
    let _alone = guest::alone();
    let children = || {
        // SAFETY: all zeros is a value of this plain structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the place is this function's own.
        unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
        (usage.ru_utime.tv_sec, usage.ru_utime.tv_usec, usage.ru_stime.tv_sec, usage.ru_stime.tv_usec)
    };
    let counter = shared_word();
    let child = Child::new(|| count_for_ever(counter));
    await_change(counter);
    let before = children();
    for _ in 0..3 {
        child.kill(libc::SIGSTOP);
        assert_stopped(&child, libc::SIGSTOP);
        child.kill(libc::SIGCONT);
        assert_goes_on(&child);
    }
    assert_eq!(children(), before);
    child.kill(libc::SIGKILL);
    let (ended, usage) = child.wait_with_usage();
    assert_eq!(ended, Ended::Signal(libc::SIGKILL));
    assert!(usage.ru_utime.tv_sec > 0 || usage.ru_utime.tv_usec > 0);
    assert!(children() > before);
}

/// As in `ps`: the state of the process is "stopped" exactly while it is.
#[test]
fn the_state_is_told() {
    let _alone = guest::alone();
    let child = Child::new(|| sleep_for_ever());
    let state = || userlib::process::all().find(|info| info.pid == child.pid).expect("it is there").state;
    child.kill(libc::SIGSTOP);
    assert_stopped(&child, libc::SIGSTOP);
    assert_eq!(state(), syscalls::proc_state::STOPPED);
    child.kill(libc::SIGCONT);
    assert_goes_on(&child);
    assert_ne!(state(), syscalls::proc_state::STOPPED);
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
}
