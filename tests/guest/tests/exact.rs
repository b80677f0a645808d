//! How exact the bill is. In virtual time (`--icount`) an instruction is a nanosecond and the figures must be right to
//! within the cost of the calls that read them; in real time they must fit between the clock readings around them.
//!
//! One test at a time: what they charge to themselves must not depend on what others do to the caches or the queues.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use guest::{Pages, assert_within, call_loop, on_icount, touch_loop, user_loop};
use userlib::clock::{self, Clock};
use userlib::lwp::{self, CpuTime, LwpId};

/// What the calls at both ends of a measurement may cost, entering and leaving the kernel included.
const READING: Duration = Duration::from_micros(2);

/// Instructions of a call that may lie outside of the kernel's two stamps: those that save and restore registers, without
/// which there is nothing to stamp with. They count as user time.
const OUTSIDE_A_CALL: u64 = 60;

/// The same for a page fault, which saves and restores every register.
const OUTSIDE_A_FAULT: u64 = 90;

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clock_now() -> Duration {
    clock::now(Clock::MONOTONIC).expect("clock_gettime")
}

/// What `work` was billed, and how long it took by the clock read inside of the two bills.
fn bill(work: impl FnOnce()) -> (CpuTime, Duration) {
    let before = lwp::info().expect("_lwp_info");
    let start = clock_now();
    work();
    let elapsed = clock_now() - start;
    (lwp::info().expect("_lwp_info") - before, elapsed)
}

/// Asserts that a figure is `wanted`: to within the readings and the clock's calibration in virtual time, not less in
/// real time (where an instruction takes more or less than a nanosecond the caller gives no figure).
#[track_caller]
fn assert_exact(what: &str, value: Duration, wanted: Duration) {
    let calibration = wanted / 10_000;
    assert_within(what, value, wanted.saturating_sub(READING + calibration)..=wanted + READING + calibration);
}

#[test]
fn a_user_loop_is_charged_to_user_by_its_length() {
    let _alone = alone();
    for rounds in [500, 50_000, 5_000_000] {
        let (used, elapsed) = bill(|| user_loop(rounds));
        assert!(used.user > Duration::ZERO);
        if on_icount() {
            assert_exact("user", used.user, Duration::from_nanos(2 * rounds));
            assert_exact("system", used.system, Duration::ZERO);
            assert_exact("user + system", used.total(), elapsed);
        } else {
            let (before, after, outside) = outer_bill(|| user_loop(rounds));
            assert!(after.user - before.user <= outside, "more user time than time");
        }
    }
}

/// Bills around `work`, with clock readings around the bills.
fn outer_bill(work: impl FnOnce()) -> (CpuTime, CpuTime, Duration) {
    let start = clock_now();
    let before = lwp::info().expect("_lwp_info");
    work();
    let after = lwp::info().expect("_lwp_info");
    (before, after, clock_now() - start)
}

#[test]
fn calls_are_charged_to_system() {
    let _alone = alone();
    let (used, elapsed) = bill(|| call_loop(50_000));
    assert!(used.system > Duration::ZERO);
    if on_icount() {
        assert_exact("user + system", used.total(), elapsed);
        let rounds = Duration::from_nanos(50_000 * 4);
        assert_within(
            "user",
            used.user,
            rounds..=rounds + Duration::from_nanos(50_000 * OUTSIDE_A_CALL) + READING,
        );
    }
}

#[test]
fn short_bursts_of_both_kinds_are_each_charged() {
    let _alone = alone();
    let (bursts, rounds) = (2_000, 500);
    let (used, elapsed) = bill(|| {
        for _ in 0..bursts {
            user_loop(rounds);
            call_loop(10);
        }
    });
    if on_icount() {
        assert_exact("user + system", used.total(), elapsed);
        let loops = Duration::from_nanos(bursts * rounds * 2);
        let calls = Duration::from_nanos(bursts * 10 * (4 + OUTSIDE_A_CALL) + bursts * 20);
        assert_within("user", used.user, loops..=loops + calls + READING);
    } else {
        assert!(used.user > Duration::ZERO && used.system > Duration::ZERO, "{used:?}");
    }
}

#[test]
fn sleep_costs_nothing() {
    let _alone = alone();
    let states = || lwp::microstates(LwpId::CALLER).expect("lwp_microstates");
    for length in [Duration::from_micros(300), Duration::from_millis(7), Duration::from_millis(100)] {
        let before = states();
        let (used, elapsed) = bill(|| thread::sleep(length));
        let slept = states().sleeping - before.sleeping;
        assert!(elapsed >= length, "slept {elapsed:?} of {length:?}");
        assert!(slept <= elapsed + READING, "slept {slept:?} in {elapsed:?}");
        if on_icount() {
            assert_within("use", used.total(), Duration::ZERO..=Duration::from_micros(10));
            assert_within(
                "sleep",
                slept,
                length - Duration::from_micros(10)..=length + Duration::from_micros(10),
            );
        }
    }
}

#[test]
fn sleeping_across_every_tick_hides_nothing() {
    // Work for 100 µs, sleep for 900 µs, fifty times: a tick-sampling kernel sees it always or never.
    let _alone = alone();
    let (used, elapsed) = bill(|| {
        for _ in 0..50 {
            user_loop(50_000);
            thread::sleep(Duration::from_micros(900));
        }
    });
    assert!(used.total() < elapsed, "{used:?} in {elapsed:?}");
    if on_icount() {
        let loops = Duration::from_nanos(50 * 50_000 * 2);
        assert_within("user", used.user, loops..=loops + loops / 100);
    }
}

#[test]
fn a_short_life_is_charged() {
    let _alone = alone();
    let process = || clock::now(Clock::PROCESS_CPU).expect("clock_gettime");
    let before = process();
    let used = thread::spawn(|| {
        user_loop(50_000);
        lwp::info().expect("_lwp_info")
    })
    .join()
    .expect("the thread ends well");
    assert!(process() - before >= used.total(), "the process keeps what its ended LWP used");
    if on_icount() {
        let work = Duration::from_nanos(100_000);
        assert_within("user", used.user, work..=work + Duration::from_micros(30));
    }
}

#[test]
fn page_faults_are_charged_to_system() {
    let _alone = alone();
    let count = 512;
    let pages = Pages::new(count);
    // SAFETY: pages of this test's own.
    let (used, elapsed) = bill(|| unsafe { touch_loop(pages.page(0), count) });
    assert!(used.system > Duration::ZERO);
    if on_icount() {
        assert_exact("user + system", used.total(), elapsed);
        // A page is cleared in 512 instructions at the least.
        assert!(used.system >= Duration::from_nanos(count * 512), "{used:?}");
        assert!(used.user <= Duration::from_nanos(count * (4 + OUTSIDE_A_FAULT)) + READING, "{used:?}");
    }
}

#[test]
fn the_very_call_is_included_up_to_the_reading() {
    let _alone = alone();
    let first = lwp::info().expect("_lwp_info");
    let second = lwp::info().expect("_lwp_info");
    let third = lwp::info().expect("_lwp_info");
    assert!(second.system > first.system && third.system > second.system, "{first:?} {second:?} {third:?}");
    if on_icount() {
        assert_within(
            "a call",
            (third - second).total(),
            Duration::from_nanos(10)..=Duration::from_nanos(400),
        );
    }
}
