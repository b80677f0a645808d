//! How exact the bill is. In virtual time (`--icount`) an instruction is a nanosecond and the figures must be right to
//! within the cost of the calls that read them; in real time they must fit between the clock readings around them.
//!
//! One test at a time: what they charge to themselves must not depend on what others do to the caches or the queues.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use guest::{Pages, assert_within, call_loop, on_icount, touch_loop, user_loop};
use userlib::clock::{self, Clock};
use userlib::cpu;
use userlib::lwp::{self, CpuTime, LwpId};

/// Instructions of a call that lie outside of the kernel's two stamps, `SYSCALL` not counted: they go to user. On the way in
/// the ones without which there is no stamp (`swapgs`, two registers put aside, two of the ledger's window), and the
/// second half of the stamp's own instruction; on the way out six of the ledger, six registers and `sysretq`.
const OUTSIDE_A_CALL: u64 = 19;

/// The same for a page fault: a stub, whether it came from user mode, whether it is an interrupt; and `iretq`.
const OUTSIDE_A_FAULT: u64 = 24;

/// What a reading at both ends of a measurement may cost where it is not taken off.
const READING: Duration = Duration::from_nanos(400);

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

/// What `rounds` more rounds of `work` are billed, and how long they take: all else is the same in both measurements, to
/// the instruction, and goes off. In virtual time, that is; in real time it is only something like that.
fn bill_of_more(work: fn(u64), rounds: u64) -> (CpuTime, Duration) {
    let few = 100;
    work(few); // pages and caches
    undisturbed(|| {
        let [(used_by_few, time_of_few), (used_by_many, time_of_many)] =
            [few, few + rounds].map(|rounds| bill(|| work(rounds)));
        (used_by_many - used_by_few, time_of_many.saturating_sub(time_of_few))
    })
}

/// Measures until no interrupt came in between: the host may tell the console of its input at any moment, and then some
/// instructions go to user that the work has not.
fn undisturbed<T>(measure: impl Fn() -> T) -> T {
    let irq_time = || cpu::all().map(|(_, times)| times.irq).sum::<Duration>();
    for _ in 0..20 {
        let before = irq_time();
        let measured = measure();
        if irq_time() == before {
            return measured;
        }
    }
    panic!("interrupts again and again, though there is nothing to time");
}

#[test]
fn a_user_loop_is_charged_to_user_by_its_length() {
    let _alone = alone();
    for rounds in [500, 50_000, 5_000_000] {
        if on_icount() {
            let (used, elapsed) = bill_of_more(user_loop, rounds);
            assert_eq!(used.user, Duration::from_nanos(2 * rounds));
            assert_eq!(used.system, Duration::ZERO);
            assert_eq!(elapsed, used.total());
        } else {
            let (before, after, outside) = outer_bill(|| user_loop(rounds));
            assert!(after.user > before.user && after.user - before.user <= outside, "{before:?} {after:?}");
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
    let rounds = 50_000;
    if on_icount() {
        let (used, elapsed) = bill_of_more(call_loop, rounds);
        assert_eq!(used.user, Duration::from_nanos(rounds * (4 + OUTSIDE_A_CALL)));
        assert_eq!(used.total(), elapsed);
        assert!(used.system.as_nanos().is_multiple_of(rounds.into()), "{used:?}: each call alike");
    }
    let (used, _) = bill(|| call_loop(rounds));
    assert!(used.system > Duration::ZERO);
}

/// Each round computes for as long as fifty times it calls, in bursts of a microsecond.
fn bursts(rounds: u64) {
    for _ in 0..rounds {
        user_loop(COMPUTE);
        call_loop(CALLS);
    }
}
const COMPUTE: u64 = 500;
const CALLS: u64 = 10;

#[test]
fn short_bursts_of_both_kinds_are_each_charged() {
    let _alone = alone();
    let rounds = 2_000;
    if on_icount() {
        let (used, elapsed) = bill_of_more(bursts, rounds);
        assert_eq!(used.total(), elapsed);
        let loops = 2 * COMPUTE + CALLS * (4 + OUTSIDE_A_CALL);
        let most_around_them = 20; // what the compiler makes of the loop over both
        let user = |each| Duration::from_nanos(rounds * each);
        assert_within("user", used.user, user(loops)..=user(loops + most_around_them));
    } else {
        let (used, _) = bill(|| bursts(rounds));
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
            assert_within("use", used.total(), Duration::ZERO..=Duration::from_micros(4));
            let fall_asleep = Duration::from_nanos(200);
            assert_within("sleep", slept, length - fall_asleep..=length + fall_asleep);
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
        assert_within("user", used.user, loops..=loops + Duration::from_nanos(50 * 200));
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
        assert_within("user", used.user, work..=work + Duration::from_micros(2));
    }
}

/// Touches so many fresh pages.
fn touch_fresh(count: u64) {
    static PAGES: OnceLock<Pages> = OnceLock::new();
    static TOUCHED: AtomicU64 = AtomicU64::new(0);
    let pages = PAGES.get_or_init(|| Pages::new(20 * 1000));
    let first = TOUCHED.fetch_add(count, Relaxed);
    // SAFETY: pages of this test's own.
    unsafe { touch_loop(pages.page(first), count) };
}

#[test]
fn page_faults_are_charged_to_system() {
    let _alone = alone();
    let more = 400;
    let (used, _) = bill(|| touch_fresh(more));
    assert!(used.system > Duration::ZERO);
    if on_icount() {
        let (used, elapsed) = bill_of_more(touch_fresh, more);
        assert_eq!(used.user, Duration::from_nanos(more * (4 + OUTSIDE_A_FAULT)));
        assert_eq!(used.total(), elapsed);
        // A page is cleared in 512 instructions.
        assert!(used.system >= Duration::from_nanos(more * 512), "{used:?}");
    }
}

#[test]
fn the_very_call_is_included_up_to_the_reading() {
    let _alone = alone();
    let [_, first, second, third] = [(); 4].map(|()| lwp::info().expect("_lwp_info"));
    assert!(second.system > first.system && third.system > second.system, "{first:?} {second:?} {third:?}");
    if on_icount() {
        assert_eq!((third - second).system, (second - first).system, "the same each time");
        assert_within("a call", (third - second).total(), Duration::from_nanos(10)..=READING);
    }
}
