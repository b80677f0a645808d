//! LWPs as the kernel offers them: futexes, ids, ends.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use guest::{address, call};
use libc::{
    FUTEX_CMP_REQUEUE, FUTEX_PRIVATE_FLAG, FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAKE, FUTEX_WAKE_BITSET,
};
use syscalls::{TimeSpec, number};
use userlib::Errno;
use userlib::lwp::{self, LwpId, Microstates};

/// `futex` on a word, with a time-out or second count, a second word, and a third value.
fn futex(word: &AtomicU32, operation: i32, value: u32, rest: [u64; 3]) -> Result<u64, Errno> {
    let operation = (operation | FUTEX_PRIVATE_FLAG) as u64;
    // SAFETY: the words live as long as the tests that use them, and time-outs are theirs.
    unsafe { call(number::futex, &[address(word), operation, u64::from(value), rest[0], rest[1], rest[2]]) }
}

fn wake(word: &AtomicU32, count: u32) -> u64 {
    futex(word, FUTEX_WAKE, count, [0; 3]).expect("wake")
}

/// Time enough for those that were woken to say so, should they.
fn settle() {
    thread::sleep(Duration::from_millis(30));
}

/// Those who are about to wait, so that others can see when they do, however busy the machine is.
#[derive(Default)]
struct Waiters(Mutex<Vec<LwpId>>);

impl Waiters {
    /// The caller will wait next.
    fn join(&self) {
        self.0.lock().expect("no test panics with it").push(lwp::current());
    }

    /// Waits until `count` have joined and fallen asleep: their CPU time stands still while they sleep on.
    fn all_asleep(&self, count: usize) {
        loop {
            let tids = self.0.lock().expect("no test panics with it").clone();
            let look =
                || tids.iter().map(|&tid| lwp::microstates(tid).expect("it lives")).collect::<Vec<_>>();
            let before = look();
            thread::sleep(Duration::from_millis(5));
            let asleep = |(a, b): (&Microstates, &Microstates)| {
                a.sleeping < b.sleeping && a.runnable == b.runnable && a.user == b.user
            };
            if tids.len() == count && before.iter().zip(&look()).all(asleep) {
                return;
            }
        }
    }
}

#[test]
fn a_changed_word_is_not_waited_on() {
    let word = AtomicU32::new(1);
    assert_eq!(futex(&word, FUTEX_WAIT, 0, [0; 3]), Err(Errno::EAGAIN));
    assert_eq!(wake(&word, u32::MAX >> 1), 0, "nobody waits");
}

#[test]
fn a_wait_times_out_not_before_its_time() {
    let word = AtomicU32::new(0);
    for length in [0, 1, 1_000_000, 20_000_000].map(Duration::from_nanos) {
        let timeout = TimeSpec { seconds: 0, nanoseconds: length.as_nanos() as i64 };
        let start = Instant::now();
        assert_eq!(futex(&word, FUTEX_WAIT, 0, [address(&timeout), 0, 0]), Err(Errno::ETIMEDOUT));
        assert!(start.elapsed() >= length, "{:?} of {length:?}", start.elapsed());
    }
    let improper = TimeSpec { seconds: 0, nanoseconds: 1_000_000_000 };
    assert_eq!(futex(&word, FUTEX_WAIT, 0, [address(&improper), 0, 0]), Err(Errno::EINVAL));
}

#[test]
fn an_absolute_wait_ends_at_its_time() {
    use userlib::clock::{Clock, now};
    let word = AtomicU32::new(0);
    let end = now(Clock::MONOTONIC).expect("clock_gettime") + Duration::from_millis(5);
    let timeout = TimeSpec { seconds: end.as_secs() as i64, nanoseconds: i64::from(end.subsec_nanos()) };
    let result = futex(&word, FUTEX_WAIT_BITSET, 0, [address(&timeout), 0, u64::from(u32::MAX)]);
    assert_eq!(result, Err(Errno::ETIMEDOUT));
    assert!(now(Clock::MONOTONIC).expect("clock_gettime") >= end);
    assert_eq!(futex(&word, FUTEX_WAIT_BITSET, 0, [0; 3]), Err(Errno::EINVAL), "no bits");
}

#[test]
fn as_many_wake_as_are_asked_for() {
    let (word, woken, waiters) = (AtomicU32::new(0), AtomicU32::new(0), Waiters::default());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                waiters.join();
                assert_eq!(futex(&word, FUTEX_WAIT, 0, [0; 3]), Ok(0));
                woken.fetch_add(1, Ordering::SeqCst);
            });
        }
        waiters.all_asleep(6);
        assert_eq!(wake(&word, 2), 2);
        while woken.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        settle();
        assert_eq!(woken.load(Ordering::SeqCst), 2);
        assert_eq!(wake(&word, u32::MAX >> 1), 4);
    });
    assert_eq!(woken.into_inner(), 6);
}

#[test]
fn bits_choose_who_wakes() {
    let (word, woken, waiters) = (AtomicU32::new(0), AtomicU32::new(0), Waiters::default());
    thread::scope(|scope| {
        for bit in [1_u32, 2, 4] {
            let (word, woken, waiters) = (&word, &woken, &waiters);
            scope.spawn(move || {
                waiters.join();
                assert_eq!(futex(word, FUTEX_WAIT_BITSET, 0, [0, 0, u64::from(bit)]), Ok(0));
                woken.fetch_or(bit, Ordering::SeqCst);
            });
        }
        waiters.all_asleep(3);
        assert_eq!(futex(&word, FUTEX_WAKE_BITSET, 9, [0, 0, 2]), Ok(1));
        while woken.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        settle();
        assert_eq!(woken.load(Ordering::SeqCst), 2);
        assert_eq!(futex(&word, FUTEX_WAKE_BITSET, 9, [0, 0, 5]), Ok(2));
    });
    assert_eq!(woken.into_inner(), 7);
}

#[test]
fn waiters_move_to_another_word() {
    let (from, to, waiters) = (AtomicU32::new(0), AtomicU32::new(0), Waiters::default());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                waiters.join();
                assert_eq!(futex(&from, FUTEX_WAIT, 0, [0; 3]), Ok(0));
            });
        }
        waiters.all_asleep(4);
        assert_eq!(
            futex(&from, FUTEX_CMP_REQUEUE, 1, [9, address(&to), 7]),
            Err(Errno::EAGAIN),
            "the word is 0"
        );
        assert_eq!(futex(&from, FUTEX_CMP_REQUEUE, 1, [9, address(&to), 0]), Ok(4), "one woken, three moved");
        assert_eq!(wake(&from, 9), 0);
        assert_eq!(wake(&to, 9), 3);
    });
}

#[test]
fn no_wake_is_lost_in_a_ping_pong() {
    let word = AtomicU32::new(0);
    let play = |mine: u32| {
        for _ in 0..5_000 {
            while word.load(Ordering::Acquire) != mine {
                let _changed_meanwhile = futex(&word, FUTEX_WAIT, 1 - mine, [0; 3]);
            }
            word.store(1 - mine, Ordering::Release);
            wake(&word, 1);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
}

#[test]
fn ids_are_not_shared() {
    let barrier = Barrier::new(32);
    let ids: HashSet<u64> = thread::scope(|scope| {
        let live = || {
            barrier.wait();
            userlib::raw::gettid()
        };
        let threads: Vec<_> = (0..32).map(|_| scope.spawn(live)).collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread ends well")).collect()
    });
    assert_eq!(ids.len(), 32, "{ids:?}");
}

#[test]
fn many_threads_come_and_go() {
    for _ in 0..300 {
        thread::spawn(thread::yield_now).join().expect("the thread ends well");
    }
}

#[test]
fn everyone_gets_a_turn() {
    // Spinners that never give way do not keep the others from running.
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for _ in 0..20 {
            let start = Instant::now();
            thread::sleep(Duration::from_millis(1));
            assert!(start.elapsed() < Duration::from_secs(5), "a millisecond took {:?}", start.elapsed());
        }
        stop.store(true, Ordering::Relaxed);
    });
}
