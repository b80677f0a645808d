//! Two CPUs at the same time. Times are nanoseconds of the machine's clock: they vary.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use programs::futex;
use userlib::cpu::CpuId;
use userlib::pset::{self, Who};
use userlib::{Errno, lwp, raw};

use crate::calls::calls;
use crate::measure::{BATCH, BATCHES, Figure, Outcome, ticks};

/// Lets the caller run on this CPU only.
fn pin(cpu: u32) -> Result<(), String> {
    programs::pin(cpu).map_err(|errno| format!("CPU {cpu}: {errno}"))
}

/// Runs `body` in a thread on CPU 1 while the caller runs `meanwhile` on CPU 0.
pub(crate) fn on_two<T>(
    body: impl FnOnce() + Send,
    meanwhile: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    pin(0)?;
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        scope.spawn(move || {
            let pinned = pin(1);
            let good = pinned.is_ok();
            tell.send(pinned).expect("the other side waits");
            if good {
                body();
            }
        });
        told.recv().expect("the thread tells")?;
        meanwhile()
    })
}

/// The time of an LWP that runs on the other CPU.
pub(crate) fn thread_cputime_running() -> Outcome {
    let (target, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    on_two(
        || {
            target.store(lwp::current().raw() as u32, SeqCst);
            while !stop.load(SeqCst) {
                spin_loop();
            }
        },
        || {
            while target.load(SeqCst) == 0 {
                spin_loop();
            }
            let mut time = syscalls::ThreadCputime::default();
            let place = (&raw mut time).expose_provenance() as u64;
            let number = syscalls::number::thread_cputime as u64;
            let tid = u64::from(target.load(SeqCst));
            let mut result = 0;
            let times = (0..BATCHES).map(|_| {
                let begin = Instant::now();
                // SAFETY: the place is this function's.
                result = unsafe { calls(10 * BATCH, number, tid, place).1 };
                begin.elapsed().as_nanos() as f64 / (10 * BATCH) as f64
            });
            let figure = Figure::of_times(times.collect());
            stop.store(true, SeqCst);
            Errno::from_return(result).map(|_| figure).map_err(|errno| errno.to_string())
        },
    )
}

/// From the waker's V to the first user instruction of the LWP that it wakes on an idle CPU.
pub(crate) fn wakeup_latency() -> Outcome {
    const WAKE_UPS: u32 = 200;
    let (word, woken_at) = (AtomicU32::new(0), AtomicU64::new(0));
    let sleeper = || {
        for turn in 0..WAKE_UPS {
            while word.load(SeqCst) == turn {
                futex::wait(&word, turn);
            }
            woken_at.store(ticks(), SeqCst);
        }
    };
    on_two(sleeper, || {
        let (begin, begin_ticks) = (Instant::now(), ticks());
        let mut latencies = Vec::new();
        for _ in 0..WAKE_UPS {
            thread::sleep(Duration::from_millis(1)); // the other CPU is idle by now
            woken_at.store(0, SeqCst);
            let posted_at = ticks();
            word.fetch_add(1, SeqCst);
            futex::wake(&word, 1);
            while woken_at.load(SeqCst) == 0 {
                spin_loop();
            }
            latencies.push(woken_at.load(SeqCst).saturating_sub(posted_at) as f64);
        }
        let ns_per_tick = begin.elapsed().as_nanos() as f64 / (ticks() - begin_ticks) as f64;
        Ok(Figure::of_times(latencies.into_iter().map(|latency| latency * ns_per_tick).collect()))
    })
}

/// An LWP that runs on one CPU is bound to a set with another: until it runs there.
pub(crate) fn pset_bind_running() -> Outcome {
    const MOVES: usize = 100;
    pin(0)?;
    let told = |errno: Errno| format!("three CPUs are wanted: {errno}");
    let mut sets = Vec::new();
    for cpu in 1..=2 {
        let set = pset::create().map_err(told)?;
        sets.push(set);
        pset::assign(set, CpuId::from_raw(cpu)).map_err(told)?;
    }
    let (seen, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let times = thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let (seen, stop) = (&seen, &stop);
        scope.spawn(move || {
            tell.send(lwp::current()).expect("the other side waits");
            while !stop.load(SeqCst) {
                seen.store(own_cpu(), SeqCst);
            }
        });
        let target = told.recv().expect("the thread tells");
        let times = (0..MOVES).map(|turn| {
            let begin = Instant::now();
            pset::bind(sets[turn % 2], Who::Lwp(target)).map_err(|errno| errno.to_string())?;
            while seen.load(SeqCst) != 1 + (turn % 2) as u32 {
                spin_loop();
            }
            Ok(begin.elapsed().as_nanos() as f64)
        });
        let times = times.collect::<Result<Vec<f64>, String>>();
        stop.store(true, SeqCst);
        times
    });
    sets.into_iter().try_for_each(pset::destroy).map_err(|errno| errno.to_string())?;
    times.map(Figure::of_times)
}

/// The CPU that this runs on.
fn own_cpu() -> u32 {
    let mut cpu = 0_u32;
    // SAFETY: the place is this function's.
    unsafe { raw::getcpu((&raw mut cpu).expose_provenance() as u64, 0, 0) };
    cpu
}

/// How many times the calls of one CPU two make in the same time. The best of some attempts: only a host that has
/// two CPUs to spare shows it.
pub(crate) fn null_syscall() -> Outcome {
    const ATTEMPTS: u32 = 5;
    pin(0)?;
    let best = |measure: &dyn Fn() -> Result<u64, String>| {
        (0..ATTEMPTS).map(|_| measure()).try_fold(0, |best, rate| rate.map(|rate| best.max(rate)))
    };
    let one = best(&|| Ok(calls_in_while()))?;
    let two = best(&|| {
        let other = AtomicU64::new(0);
        let own = on_two(|| other.store(calls_in_while(), SeqCst), || Ok(calls_in_while()))?;
        Ok(own + other.load(SeqCst))
    })?;
    Ok(Figure::of_number(two as f64 / one as f64, "times"))
}

/// How many calls are made in a while.
fn calls_in_while() -> u64 {
    const WHILE: Duration = Duration::from_millis(100);
    let begin = Instant::now();
    let mut made = 0;
    while begin.elapsed() < WHILE {
        // SAFETY: no arguments.
        unsafe { calls(10 * BATCH, syscalls::number::getppid as u64, 0, 0) };
        made += 10 * BATCH;
    }
    made
}
