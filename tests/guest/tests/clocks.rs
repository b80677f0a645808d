//! The clocks: relations between them, resolution, sleeps that never end early.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use guest::{address, assert_within, call, on_icount, user_loop};
use syscalls::{TimeSpec, number};
use userlib::Errno;
use userlib::clock::{self, Clock};
use userlib::lwp;

const CLOCKS: [Clock; 4] = [Clock::REALTIME, Clock::MONOTONIC, Clock::PROCESS_CPU, Clock::THREAD_CPU];

fn now(clock: Clock) -> Duration {
    clock::now(clock).expect("clock_gettime")
}

/// `clock_nanosleep`, as the registers are.
fn sleep(clock: Clock, flags: i32, request: TimeSpec) -> Result<u64, Errno> {
    let arguments = [clock.raw() as u64, flags as u64, address(&raw const request), 0];
    // SAFETY: the request is this function's own.
    unsafe { call(number::clock_nanosleep, &arguments) }
}

fn spec(time: Duration) -> TimeSpec {
    TimeSpec { seconds: time.as_secs() as i64, nanoseconds: i64::from(time.subsec_nanos()) }
}

#[test]
fn no_clock_goes_back() {
    for clock in CLOCKS {
        let mut last = now(clock);
        for _ in 0..5_000 {
            let next = now(clock);
            assert!(next >= last, "{clock:?}: {last:?}, then {next:?}");
            last = next;
        }
    }
}

#[test]
fn the_monotonic_clock_is_the_same_for_all() {
    // Each thread hands on a reading; whoever takes it must read no less, on whatever CPU it is.
    let latest = std::sync::Mutex::new(now(Clock::MONOTONIC));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let mut latest = latest.lock().expect("nobody panicked");
                    let next = now(Clock::MONOTONIC);
                    assert!(next >= *latest, "{latest:?}, then {next:?}");
                    *latest = next;
                }
            });
        }
    });
}

#[test]
fn clocks_move_in_steps_of_a_nanosecond() {
    for clock in CLOCKS {
        assert_eq!(clock::resolution(clock), Ok(Duration::from_nanos(1)), "{clock:?}");
    }
    let mut odd = 0;
    for _ in 0..1_000 {
        odd += now(Clock::MONOTONIC).subsec_nanos() % 10;
    }
    assert_ne!(odd, 0, "a thousand readings, all multiples of ten nanoseconds");
}

#[test]
fn the_time_of_day_is_plausible_and_the_same_everywhere() {
    let before = now(Clock::REALTIME);
    let mut time = [0_u64; 2];
    // SAFETY: the structure is this test's own.
    unsafe { call(number::gettimeofday, &[address(&raw mut time), 0]) }.expect("gettimeofday");
    let after = now(Clock::REALTIME);
    let micro = Duration::from_micros(1);
    let day = Duration::from_secs(time[0]) + Duration::from_micros(time[1]);
    assert_within("gettimeofday", day + micro, before..=after + micro);
    let years = before.as_secs() / (365 * 86_400 + 21_600);
    assert_within("year", 1970 + years, 2020..=2120);
    assert!(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970") >= after);
}

#[test]
fn both_clocks_run_equally_fast() {
    let start = (now(Clock::REALTIME), now(Clock::MONOTONIC));
    thread::sleep(Duration::from_millis(100));
    let end = (now(Clock::REALTIME), now(Clock::MONOTONIC));
    // The monotonic clock is read second at both ends: preemption between the two may shift either.
    let (real, monotonic) = (end.0 - start.0, end.1 - start.1);
    assert!(real.abs_diff(monotonic) < Duration::from_millis(50), "{real:?} and {monotonic:?}");
}

#[test]
fn k05_the_clock_does_not_wrap_in_the_first_seconds() {
    // Virtual time costs nothing to sleep through.
    let length = Duration::from_secs(if on_icount() { 30 } else { 7 });
    let start = Instant::now();
    let mut last = now(Clock::MONOTONIC);
    while start.elapsed() < length {
        thread::sleep(Duration::from_millis(50));
        let next = now(Clock::MONOTONIC);
        assert_within("step", next - last, Duration::from_millis(50)..=Duration::from_secs(5));
        last = next;
    }
}

#[test]
fn no_sleep_ends_early() {
    for length in [1, 1_000, 50_000, 999_999, 3_000_000].map(Duration::from_nanos) {
        for clock in [Clock::MONOTONIC, Clock::REALTIME] {
            let start = now(clock);
            assert_eq!(sleep(clock, 0, spec(length)), Ok(0));
            let elapsed = now(clock) - start;
            assert!(elapsed >= length, "{clock:?}: {elapsed:?} instead of {length:?}");

            let end = now(clock) + length;
            assert_eq!(sleep(clock, libc::TIMER_ABSTIME, spec(end)), Ok(0));
            assert!(now(clock) >= end, "{clock:?}, until {end:?}");
        }
    }
}

#[test]
fn a_time_that_has_passed_is_not_slept_for() {
    let start = now(Clock::MONOTONIC);
    for _ in 0..100 {
        assert_eq!(sleep(Clock::MONOTONIC, libc::TIMER_ABSTIME, spec(Duration::ZERO)), Ok(0));
        assert_eq!(sleep(Clock::MONOTONIC, libc::TIMER_ABSTIME, spec(start)), Ok(0));
        assert_eq!(sleep(Clock::MONOTONIC, 0, spec(Duration::ZERO)), Ok(0));
    }
}

#[test]
fn improper_times_are_refused() {
    for (seconds, nanoseconds) in
        [(0, -1), (0, 1_000_000_000), (-1, 0), (0, i64::MAX), (i64::MIN, 0), (1, i64::MIN)]
    {
        let request = TimeSpec { seconds, nanoseconds };
        for flags in [0, libc::TIMER_ABSTIME] {
            assert_eq!(sleep(Clock::MONOTONIC, flags, request), Err(Errno::EINVAL), "{request:?}, {flags}");
        }
        // SAFETY: the request is this test's own.
        let result = unsafe { call(number::nanosleep, &[address(&raw const request), 0]) };
        assert_eq!(result, Err(Errno::EINVAL), "{request:?}");
    }
    assert_eq!(sleep(Clock::from_raw(99), 0, spec(Duration::ZERO)), Err(Errno::EINVAL), "no such clock");
}

#[test]
fn the_cpu_clock_of_another_lwp_is_that_lwps() {
    let (tell, told) = std::sync::mpsc::channel();
    let other = thread::spawn(move || {
        user_loop(10_000_000);
        tell.send((gettid(), now(Clock::THREAD_CPU))).expect("the other side waits");
        thread::park();
    });
    let (tid, used) = told.recv().expect("the thread tells");
    let seen = now(Clock::of_lwp(lwp::LwpId::from_raw(tid)));
    assert_within("CPU time", seen, used..=used + used / 2);
    assert!(now(Clock::of_process(std::process::id() as i32)) >= seen);
    assert!(clock::now(Clock::of_lwp(lwp::LwpId::from_raw(99_999_999 >> 6))).is_err(), "no such LWP");
    other.thread().unpark();
    other.join().expect("the thread ends well");
}

fn gettid() -> i32 {
    userlib::raw::gettid() as i32
}

#[test]
fn the_cpu_clock_stands_still_in_sleep() {
    let start = now(Clock::THREAD_CPU);
    thread::sleep(Duration::from_millis(200));
    assert!(now(Clock::THREAD_CPU) - start < Duration::from_millis(20));
}
