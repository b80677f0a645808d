//! What is known to go wrong where CPUs keep accounts: buckets inside of buckets, another CPU's figures, idle time counted
//! twice. (See also `accounting.rs`, for the laws one by one.)

use std::thread;
use std::time::{Duration, Instant};

use guest::{allow, alone, call_loop, user_loop};
use userlib::clock::{self, Clock};
use userlib::cpu::{self, CpuId, Times};
use userlib::process::machine_times;

fn cpus() -> i32 {
    cpu::all().count() as i32
}

fn times(cpu: i32) -> Times {
    cpu::times(CpuId::from_raw(cpu)).expect("a CPU that is there")
}

/// Binds the caller to the CPUs of the mask.
fn run_on(mask: u64) {
    assert!(allow(0, mask), "sched_setaffinity");
}

/// Law 1 to the nanosecond: what is lost is less than one in each state.
fn is_whole(times: &Times) -> bool {
    times.sum() <= times.up && times.up - times.sum() < Duration::from_nanos(4)
}

/// K03: user and system together are the time on CPUs, in the LWPs' ledgers as in the CPUs', and no bucket is inside of
/// another: at every moment of a busy machine.
#[test]
fn k03_user_and_system_are_the_whole_and_nothing_twice() {
    let _alone = alone();
    thread::scope(|scope| {
        let work = || (0..30).for_each(|_| (user_loop(20_000), call_loop(200)).1);
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            let now = machine_times().expect("machine_times");
            assert_eq!(now.lwps, now.cpus);
            assert!(cpu::all().all(|(_, times)| is_whole(&times)));
            thread::sleep(Duration::from_micros(300));
        }
    });
}

/// K07: who asks for CPU n is told about CPU n, wherever it asks; figures never fall from one asker to the next, and grow by
/// no more than the time that passed.
#[test]
fn k07_every_cpu_tells_the_same_about_each() {
    let _alone = alone();
    let begin = Instant::now();
    let first: Vec<Times> = (0..cpus()).map(times).collect();
    let mut last = first.clone();
    for round in 0..20 {
        run_on(1 << (round % cpus()));
        for (cpu, last) in last.iter_mut().enumerate() {
            let now = times(cpu as i32);
            let pairs = [
                (now.user, last.user),
                (now.system, last.system),
                (now.irq, last.irq),
                (now.idle, last.idle),
            ];
            assert!(pairs.iter().all(|(now, last)| now >= last), "CPU {cpu}: {last:?}, then {now:?}");
            *last = now;
        }
    }
    run_on(u64::MAX);
    let elapsed = begin.elapsed();
    for (cpu, (first, last)) in first.iter().zip(&last).enumerate() {
        assert!(last.up - first.up <= elapsed, "CPU {cpu} grew by {:?} in {elapsed:?}", last.up - first.up);
    }
}

/// K07 again: the busy one is the one that is told to be.
#[test]
fn k07_the_busy_cpu_is_the_one_where_the_work_is() {
    let _alone = alone();
    for busy in 0..cpus() {
        run_on(1 << busy);
        let before: Vec<Times> = (0..cpus()).map(times).collect();
        user_loop(3_000_000);
        let grown: Vec<Duration> =
            (0..cpus()).map(|cpu| times(cpu).user - before[cpu as usize].user).collect();
        let most = grown.iter().max().expect("a CPU");
        assert_eq!(grown.iter().position(|grown| grown == most), Some(busy as usize), "{grown:?}");
    }
    run_on(u64::MAX);
}

/// K08: a sleeping machine is idle, once: idle and busy make the time that passed on each CPU, and no LWP pays for it.
#[test]
fn k08_idle_is_counted_once_and_is_nobodys() {
    const SLEEP: Duration = Duration::from_millis(300);
    let _alone = alone();
    let process = || clock::now(Clock::PROCESS_CPU).expect("clock_gettime");
    // A host that is busy keeps CPUs from idling at all; not each time.
    let shares: Vec<f64> = (0..5)
        .map(|_| {
            let begin = (Instant::now(), process());
            let before: Vec<Times> = (0..cpus()).map(times).collect();
            thread::sleep(SLEEP);
            let after: Vec<Times> = (0..cpus()).map(times).collect();
            let (elapsed, used) = (begin.0.elapsed(), process() - begin.1);
            assert!(after.iter().all(is_whole));
            let idle: Duration =
                before.iter().zip(&after).map(|(before, after)| after.idle - before.idle).sum();
            assert!(idle + used <= elapsed * cpus() as u32 + Duration::from_micros(1), "{idle:?}, {used:?}");
            idle.as_secs_f64() / (elapsed.as_secs_f64() * f64::from(cpus()))
        })
        .take_while(|&share| share < 0.9)
        .collect();
    assert!(shares.len() < 5, "idle shares of a sleeping machine: {shares:.3?}");
}
