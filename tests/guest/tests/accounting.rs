//! The laws of the ledger, as an LWP can see them from inside. They hold on any number of CPUs and in real or virtual
//! time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use guest::{assert_parts_make_the_whole, assert_within, on_icount, user_loop};
use userlib::clock::{self, Clock};
use userlib::cpu::{self, CpuId};
use userlib::lwp::{self, CpuTime, LwpId};
use userlib::process::{self, Whose};
use userlib::raw;

const CALLER: LwpId = LwpId::CALLER;

fn cputime(lwp: LwpId) -> CpuTime {
    lwp::cputime(lwp).expect("thread_cputime")
}

fn now(clock: Clock) -> Duration {
    clock::now(clock).expect("clock_gettime")
}

/// All CPUs; there is at least one.
fn cpus() -> Vec<CpuId> {
    let cpus: Vec<_> = cpu::all().map(|(cpu, _)| cpu).collect();
    assert_within("number of CPUs", cpus.len(), 1..=64);
    cpus
}

fn cpu_times(cpu: CpuId) -> cpu::Times {
    cpu::times(cpu).expect("cpu_times")
}

/// Another LWP, which does something over and over until this is dropped.
struct Other {
    lwp: LwpId,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Other {
    fn doing(work: impl Fn() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            tell.send(lwp::current()).expect("the other side waits");
            while !stopped.load(Ordering::Relaxed) {
                work();
            }
        });
        Other { lwp: told.recv().expect("the thread tells its id"), stop, thread: Some(thread) }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("dropped once").join().expect("the thread ends well");
    }
}

/// Others of every habit: always in user mode, always entering the kernel, always asleep, giving way.
fn others() -> Vec<Other> {
    vec![
        Other::doing(|| user_loop(10_000)),
        Other::doing(|| {
            raw::getppid();
        }),
        Other::doing(|| thread::sleep(Duration::from_millis(1))),
        Other::doing(thread::yield_now),
    ]
}

#[test]
fn law_1_a_cpus_states_make_the_time_it_is_up() {
    let _others = others();
    for _ in 0..200 {
        for cpu in cpus() {
            let times = cpu_times(cpu);
            assert_parts_make_the_whole(&format!("CPU {cpu}"), times.sum(), 4, times.up);
        }
        user_loop(1000);
    }
}

#[test]
fn law_1_every_cpu_has_been_up_as_long_as_the_clock_says() {
    for cpu in cpus() {
        let (start, first) = (now(Clock::MONOTONIC), cpu_times(cpu));
        let start_after = now(Clock::MONOTONIC);
        thread::sleep(Duration::from_millis(5));
        let (end, last) = (now(Clock::MONOTONIC), cpu_times(cpu));
        let end_after = now(Clock::MONOTONIC);
        let grown = last.up - first.up;
        let slack = Duration::from_nanos(2);
        assert_within(&format!("CPU {cpu}"), grown, end - start_after - slack..=end_after - start + slack);
    }
}

#[test]
fn law_2_an_lwps_states_make_its_life() {
    let others = others();
    for _ in 0..200 {
        for lwp in others.iter().map(|other| other.lwp).chain([CALLER]) {
            let states = lwp::microstates(lwp).expect("lwp_microstates");
            assert_parts_make_the_whole(&format!("LWP {lwp}"), states.sum(), 5, states.lifetime);
        }
        user_loop(1000);
    }
}

#[test]
fn law_2_a_life_is_as_long_as_the_clock_says() {
    let other = Other::doing(|| user_loop(10_000));
    for lwp in [other.lwp, CALLER] {
        let life = || lwp::microstates(lwp).expect("lwp_microstates").lifetime;
        let (start, first, start_after) = (now(Clock::MONOTONIC), life(), now(Clock::MONOTONIC));
        thread::sleep(Duration::from_millis(5));
        let (end, last, end_after) = (now(Clock::MONOTONIC), life(), now(Clock::MONOTONIC));
        let slack = Duration::from_nanos(2);
        assert_within("growth", last - first, end - start_after - slack..=end_after - start + slack);
    }
}

#[test]
fn law_4_no_figure_of_an_lwp_ever_falls() {
    let others = others();
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let watched: Vec<LwpId> = others.iter().map(|other| other.lwp).chain([CALLER]).collect();
            thread::spawn(move || watch_lwps(&watched, 500))
        })
        .collect();
    readers.into_iter().for_each(|reader| reader.join().expect("no figure fell"));
}

fn watch_lwps(watched: &[LwpId], times: usize) {
    let mut last: Vec<_> =
        watched.iter().map(|&lwp| lwp::microstates(lwp).expect("lwp_microstates")).collect();
    for _ in 0..times {
        for (&lwp, last) in watched.iter().zip(&mut last) {
            let short = cputime(lwp);
            assert!(short.user >= last.user && short.system >= last.system, "LWP {lwp}: {last:?}, {short:?}");
            let next = lwp::microstates(lwp).expect("lwp_microstates");
            assert!(next.user >= short.user && next.system >= short.system, "LWP {lwp}: {short:?}, {next:?}");
            let fell = [
                next.runnable < last.runnable,
                next.sleeping < last.sleeping,
                next.stopped < last.stopped,
                next.lifetime < last.lifetime,
            ];
            assert_eq!(fell, [false; 4], "LWP {lwp}: {last:?}, then {next:?}");
            *last = next;
        }
    }
}

#[test]
fn law_4_no_figure_of_a_cpu_ever_falls() {
    let _others = others();
    let readers: Vec<_> = (0..3).map(|_| thread::spawn(|| watch_cpus(300))).collect();
    readers.into_iter().for_each(|reader| reader.join().expect("no figure fell"));
}

fn watch_cpus(times: usize) {
    let mut last: Vec<_> = cpus().into_iter().map(|cpu| (cpu, cpu_times(cpu))).collect();
    for _ in 0..times {
        for (cpu, last) in &mut last {
            let next = cpu_times(*cpu);
            let fell = [
                next.user < last.user,
                next.system < last.system,
                next.irq < last.irq,
                next.idle < last.idle,
                next.up < last.up,
            ];
            assert_eq!(fell, [false; 5], "CPU {cpu}: {last:?}, then {next:?}");
            *last = next;
        }
    }
}

#[test]
fn law_4_no_figure_of_the_process_ever_falls() {
    let _others = others();
    let mut last = (now(Clock::PROCESS_CPU), usage(Whose::Process));
    for round in 0..300 {
        if round % 30 == 0 {
            // A thread that ends takes nothing with it.
            thread::spawn(|| user_loop(100_000)).join().expect("the thread ends well");
        }
        let next = (now(Clock::PROCESS_CPU), usage(Whose::Process));
        assert!(next.0 >= last.0, "CLOCK_PROCESS_CPUTIME_ID: {last:?}, then {next:?}");
        assert!(next.1.user >= last.1.user && next.1.system >= last.1.system, "{last:?}, then {next:?}");
        last = next;
    }
}

fn usage(whose: Whose) -> CpuTime {
    process::usage(whose).expect("getrusage").time
}

#[test]
fn law_5_a_reading_includes_the_present_slice() {
    // The other never enters the kernel by itself, so that whatever it uses is in its present slice.
    let other = Other::doing(|| user_loop(1_000_000));
    let mut seen = cputime(other.lwp).total();
    let mut growths = 0;
    let deadline = Instant::now() + Duration::from_secs(20);
    while growths < 100 && Instant::now() < deadline {
        user_loop(50_000);
        let next = cputime(other.lwp).total();
        growths += usize::from(next > seen);
        seen = next;
        // On one CPU the other runs only if this one lets it.
        thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(growths, 100, "readings that were greater than the one before");
}

#[test]
fn law_5_readings_agree_with_those_around_them() {
    // Each call reads the same ledger: what was read before is not more, what is read after is not less.
    for _ in 0..500 {
        let readings = [
            lwp::info().expect("_lwp_info"),
            cputime(CALLER),
            lwp::info32().expect("_lwp_info32"),
            cputime(lwp::current()),
            lwp::info().expect("_lwp_info"),
        ];
        for pair in readings.windows(2) {
            assert!(pair[0].user <= pair[1].user && pair[0].system <= pair[1].system, "{readings:?}");
        }
    }
}

#[test]
fn law_5_the_cpu_clocks_and_getrusage_read_the_same_ledger() {
    let floor = Duration::from_micros(1);
    for _ in 0..500 {
        let before = cputime(CALLER);
        let clock = now(Clock::THREAD_CPU);
        let usage = usage(Whose::Lwp);
        let by_id = now(Clock::of_lwp(lwp::current()));
        let after = cputime(CALLER);
        assert_within("CLOCK_THREAD_CPUTIME_ID", clock, before.total()..=after.total());
        assert_within("clock of the LWP", by_id, clock..=after.total());
        assert_within("user time of getrusage", usage.user + floor, before.user..=after.user + floor);
        assert_within("system time of getrusage", usage.system + floor, before.system..=after.system + floor);
    }
}

#[test]
fn law_6_a_fresh_lwp_starts_at_nothing() {
    user_loop(20_000_000);
    let used = cputime(CALLER);
    assert!(used.user >= Duration::from_millis(1), "the creator has used time: {used:?}");
    let (first, life) = thread::spawn(|| {
        let first = cputime(CALLER);
        (first, lwp::microstates(CALLER).expect("lwp_microstates").lifetime)
    })
    .join()
    .expect("the thread ends well");
    assert!(first.total() <= life, "{first:?} in a life of {life:?}");
    assert!(first.user < used.user / 2, "{first:?} after the creator's {used:?}");
}

#[test]
fn k02_a_process_has_at_least_what_its_lwps_have() {
    let others = others();
    for _ in 0..200 {
        let before: Duration = others.iter().map(|other| cputime(other.lwp).total()).sum();
        let process = now(Clock::PROCESS_CPU);
        assert!(process >= before, "the process has {process:?}, four of its LWPs {before:?}");
    }
}

/// What a sleep of half a second costs, and how much of it was sleep.
fn cost_of(sleep: fn()) -> (Duration, Duration) {
    let (before, states) = (cputime(CALLER), lwp::microstates(CALLER).expect("lwp_microstates"));
    sleep();
    let after = lwp::microstates(CALLER).expect("lwp_microstates");
    ((cputime(CALLER) - before).total(), after.sleeping - states.sleeping)
}

/// A host that is busy may stop a CPU while the LWP is in the kernel, which is then the LWP's time. But not each time,
/// while elapsed time handed out for CPU time would show each time. (Red where an LWP's ledger adds sleep to system.)
#[test]
fn k09_sleep_is_not_charged() {
    for sleep in
        [|| thread::sleep(Duration::from_millis(500)), || thread::park_timeout(Duration::from_millis(500))]
    {
        let attempts = if on_icount() { 1 } else { 10 };
        let costs: Vec<_> = (0..attempts).map(|_| cost_of(sleep)).collect();
        let free = |(used, slept): &(Duration, Duration)| {
            *used < Duration::from_millis(20) && *slept >= Duration::from_millis(499)
        };
        assert!(costs.iter().any(free), "used and slept in 500 ms: {costs:?}");
    }
}

#[test]
fn waiting_for_a_cpu_is_neither_use_nor_sleep() {
    let competitors: Vec<_> = (0..4 * cpus().len()).map(|_| Other::doing(|| user_loop(10_000))).collect();
    let before = lwp::microstates(CALLER).expect("lwp_microstates");
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(200) {
        user_loop(10_000);
    }
    let after = lwp::microstates(CALLER).expect("lwp_microstates");
    drop(competitors);
    assert!(after.runnable > before.runnable, "five LWPs a CPU, and this one never waited");
    assert!(
        after.sleeping - before.sleeping < Duration::from_millis(1),
        "it did not sleep: {before:?} {after:?}"
    );
}

#[test]
fn times_are_the_ledger_in_hundredths() {
    let tick = Duration::from_millis(10);
    let before = usage(Whose::Process);
    let times = process::times().expect("times");
    let after = usage(Whose::Process);
    assert_within("user", times.own.user + tick, before.user..=after.user + tick);
    assert_within("system", times.own.system + tick, before.system..=after.system + tick);
    assert_eq!(times.children, CpuTime::default(), "there are no children");
    assert_eq!(usage(Whose::Children), CpuTime::default(), "there are no children");
}
