//! Nice values: who goes first, who may change that, and that nobody is kept out for good (getpriority(2), nice(2)).

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use guest::{Child, Ended, allow, call, end, sleep_for_ever};
use syscalls::number;
use userlib::Errno;
use userlib::lwp::{self, LwpId};

const PROCESS: u64 = libc::PRIO_PROCESS as u64;
const GROUP: u64 = libc::PRIO_PGRP as u64;
const USER: u64 = libc::PRIO_USER as u64;

fn set(which: u64, who: i32, nice: i32) -> Result<u64, Errno> {
    // SAFETY: changes who goes first only.
    unsafe { call(number::setpriority, &[which, who as u64, nice as u64]) }
}

fn get(which: u64, who: i32) -> Result<i32, Errno> {
    // SAFETY: reads only.
    unsafe { call(number::getpriority, &[which, who as u64]) }.map(|told| 20 - told as i32)
}

fn stay_on_the_first_cpu() {
    assert!(allow(0, 1), "there is a first CPU");
}

/// A thread on the first CPU that counts while it runs.
struct Spinner {
    tid: i32,
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Spinner {
    fn new(nice: i32) -> Self {
        let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (told, tell) = std::sync::mpsc::channel();
        let (its_count, its_stop) = (count.clone(), stop.clone());
        let thread = thread::spawn(move || {
            stay_on_the_first_cpu();
            set(PROCESS, 0, nice).expect("user 0 may");
            told.send(userlib::raw::gettid() as i32).expect("the maker waits");
            while !its_stop.load(Relaxed) {
                its_count.fetch_add(1, Relaxed);
            }
        });
        Spinner { tid: tell.recv().expect("it starts"), count, stop, thread }
    }

    fn used(&self) -> Duration {
        lwp::cputime(LwpId::from_raw(self.tid)).expect("it lives").total()
    }

    fn end(self) {
        self.stop.store(true, Relaxed);
        set(PROCESS, self.tid, -20).expect("user 0 may");
        self.thread.join().expect("it ends");
    }
}

/// What each of them used in a while.
fn shares(spinners: &[Spinner], length: Duration) -> Vec<Duration> {
    let before: Vec<Duration> = spinners.iter().map(Spinner::used).collect();
    thread::sleep(length);
    spinners.iter().zip(before).map(|(spinner, before)| spinner.used() - before).collect()
}

#[test]
fn values_are_kept_cut_and_inherited() {
    let _alone = guest::alone();
    for (asked, kept) in [(5, 5), (-3, -3), (1000, 19), (-1000, -20), (i32::MIN, -20), (i32::MAX, 19)] {
        assert_eq!(set(PROCESS, 0, asked), Ok(0));
        assert_eq!(get(PROCESS, 0), Ok(kept));
        assert_eq!(get(PROCESS, userlib::raw::gettid() as i32), Ok(kept));
        assert_eq!(thread::spawn(|| get(PROCESS, 0)).join().unwrap(), Ok(kept), "a new LWP");
        assert_eq!(
            Child::new(|| i32::from(get(PROCESS, 0) != Ok(kept))).wait(),
            Ended::Exit(0),
            "a new process"
        );
    }
    assert_eq!(set(PROCESS, 0, 0), Ok(0));
    for (which, who) in [(3, 0), (u64::from(u32::MAX), 0)] {
        assert_eq!((get(which, who), set(which, who, 0)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    }
    for (which, who) in [(PROCESS, 99_999), (PROCESS, -1), (GROUP, 99_999), (USER, 99_999)] {
        assert_eq!(
            (get(which, who), set(which, who, 0)),
            (Err(Errno::ESRCH), Err(Errno::ESRCH)),
            "{which} {who}"
        );
    }
}

#[test]
fn groups_and_users_are_meant_as_a_whole() {
    let _alone = guest::alone();
    let (mut ready, tell) = io::pipe().expect("pipe");
    let child = Child::new(|| {
        // SAFETY: a group and a user of its own.
        unsafe { (call(number::setpgid, &[0, 0]).unwrap(), call(number::setuid, &[77]).unwrap()) };
        thread::spawn(|| sleep_for_ever());
        (&tell).write_all(b"x").expect("write");
        sleep_for_ever()
    });
    ready.read_exact(&mut [0]).expect("it gets so far");
    for (which, who, nice) in [(GROUP, child.pid, 3), (USER, 77, 7)] {
        assert_eq!(set(which, who, nice), Ok(0));
        assert_eq!((get(which, who), get(PROCESS, child.pid)), (Ok(nice), Ok(nice)));
        assert_eq!(get(PROCESS, 0), Ok(0), "others are not meant");
    }
    assert_eq!(set(PROCESS, child.pid, 1), Ok(0));
    assert_eq!(get(USER, 77), Ok(1), "the least nice is told");
    child.kill(libc::SIGKILL);
    assert_eq!(child.wait(), Ended::Signal(libc::SIGKILL));
}

#[test]
fn who_may() {
    let _alone = guest::alone();
    let parent = userlib::raw::getpid() as i32;
    let child = Child::new(|| {
        // SAFETY: becomes another user, for good.
        unsafe { call(number::setuid, &[77]) }.unwrap();
        assert_eq!(set(PROCESS, 0, 4), Ok(0), "nicer: anyone");
        assert_eq!(set(PROCESS, 0, 3), Err(Errno::EACCES), "less nice: user 0");
        assert_eq!(set(PROCESS, 0, 4), Ok(0));
        assert_eq!(set(PROCESS, parent, 10), Err(Errno::EPERM), "another user's");
        assert_eq!(get(PROCESS, parent), Ok(0), "anyone may look");
        end(0)
    });
    assert_eq!(child.wait(), Ended::Exit(0));
    assert_eq!(get(PROCESS, 0), Ok(0));
}

/// Nobody is kept out for good: a slice now and then, and no more.
#[test]
fn a_nicer_lwp_gets_what_is_left_and_a_turn_now_and_then() {
    let _alone = guest::alone();
    let spinners = [Spinner::new(0), Spinner::new(19), Spinner::new(7)];
    thread::sleep(Duration::from_millis(50));
    let used = shares(&spinners, Duration::from_secs(3));
    spinners.into_iter().for_each(Spinner::end);
    let all: Duration = used.iter().sum();
    for nicer in &used[1..] {
        assert!(*nicer >= all / 1000 && *nicer <= all / 4, "a turn, no more: {used:?}");
    }
    assert!(used[0] >= all / 2, "{used:?}");
    if guest::on_icount() {
        assert!(used[0] >= all * 95 / 100, "{used:?}");
    }
}

#[test]
fn equally_nice_ones_share_and_a_change_counts_at_once() {
    let _alone = guest::alone();
    let spinners = [Spinner::new(10), Spinner::new(10)];
    let used = shares(&spinners, Duration::from_secs(1));
    let ratio = used[0].as_secs_f64() / used[1].as_secs_f64();
    // A host that stops a virtual CPU for a while makes a slice longer than it is.
    let fair = if guest::on_icount() { 0.95..1.05 } else { 0.4..2.5 };
    assert!(fair.contains(&ratio), "{used:?}");
    let much_more = if guest::on_icount() { 4.0 } else { 1.5 };
    let favours =
        |used: &[Duration], one: usize| used[one].as_secs_f64() > used[1 - one].as_secs_f64() * much_more;
    assert_eq!(set(PROCESS, spinners[0].tid, 9), Ok(0), "the other way round than they are queued");
    let used = shares(&spinners, Duration::from_millis(450));
    assert!(favours(&used, 0), "{used:?}");
    assert_eq!(set(PROCESS, spinners[1].tid, 8), Ok(0));
    let used = shares(&spinners, Duration::from_millis(450));
    assert!(favours(&used, 1), "{used:?}");
    spinners.into_iter().for_each(Spinner::end);
}

/// A wake-up does not wait for a slice's end, nor for a tick.
#[test]
fn a_better_one_that_wakes_preempts_at_once() {
    let _alone = guest::alone();
    let spinner = Spinner::new(5);
    let worst = thread::spawn(|| {
        stay_on_the_first_cpu();
        set(PROCESS, 0, -5).expect("user 0 may");
        let late = (0..50).map(|_| {
            let due = Instant::now() + Duration::from_millis(3);
            thread::sleep(Duration::from_millis(3));
            // Work that eats all credit: it is the priority that counts.
            let busy = Instant::now();
            while busy.elapsed() < Duration::from_millis(6) {}
            busy - due
        });
        late.max().expect("there are some")
    })
    .join()
    .expect("it ends");
    assert!(spinner.count.load(Relaxed) > 0);
    spinner.end();
    if guest::on_icount() {
        assert!(worst < Duration::from_micros(20), "{worst:?}");
    }
}

/// Credit is for who sleeps: one that was woken and then spins does not keep its waker from the CPU for longer than others.
#[test]
fn the_woken_do_not_stay_before_their_waker() {
    let _alone = guest::alone();
    let worst = thread::spawn(|| {
        stay_on_the_first_cpu();
        let (reader, writer) = io::pipe().expect("pipe");
        let woken = thread::spawn(move || {
            stay_on_the_first_cpu();
            _ = { &reader }.read(&mut [0]).expect("read");
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(700) {}
        });
        thread::sleep(Duration::from_millis(300)); // it sleeps, and earns as much as there is to be earned
        let spin = |length| {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(length) {}
        };
        spin(60); // its waker has none left,
        thread::sleep(Duration::from_micros(100)); // which is booked when it leaves the CPU
        let before = Instant::now();
        drop(writer);
        spin(1);
        let waited = before.elapsed();
        woken.join().expect("it ends");
        waited
    })
    .join()
    .expect("it ends");
    if guest::on_icount() {
        assert!(worst < Duration::from_millis(15), "{worst:?}: a slice of the other, and some");
    }
}
