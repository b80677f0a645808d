//! How far the split into user and system time is from the truth, for programs that a clock tick is fooled by.
//!
//! The truth is what the program itself reads from the counter: around each call that works in the kernel, and at the
//! pattern's ends. One tick is taken for a nanosecond, as it is under `--icount`.

use std::time::Duration;

use programs::enter_kernel;
use userlib::lwp;

use crate::measure::{Figure, Outcome, ticks};

const MICROSECOND: u64 = 1_000;
/// The grid on which a kernel with 250 clock ticks a second would look.
const GRID: u64 = 4_000 * MICROSECOND;
/// A pattern on the grid goes on for so many of its steps.
const STEPS: u64 = 50;
const BURSTS: u64 = 1_000;
/// A sixth of a step.
const SHORT: u64 = GRID / 6;
/// The work between two sleeps.
const AWAKE: u64 = GRID / 2;

/// One of the ways to spend time, repeated.
type Pattern = fn(&mut Worker);

const PATTERNS: [Pattern; 6] = [
    |worker| (0..BURSTS).for_each(|burst| worker.both((10 + burst * 7 % 41) * MICROSECOND)),
    |worker| {
        worker.on_grid(|worker| {
            worker.compute_until(worker.next_point() - SHORT / 2);
            worker.call_for(SHORT);
        });
    },
    |worker| {
        worker.on_grid(|worker| {
            worker.call_for(worker.next_point() - SHORT / 2 - ticks());
            worker.compute_until(ticks() + SHORT);
        });
    },
    |worker| worker.between_points(|worker| worker.call_for(AWAKE)),
    |worker| worker.between_points(|worker| worker.both(AWAKE / 2)),
    |worker| worker.between_points(|worker| worker.compute_until(ticks() + AWAKE)),
];

/// The largest difference, of all patterns, between the billed share of user time and the true one.
pub(crate) fn worst_error() -> Outcome {
    let mut worst = 0.0_f64;
    for pattern in PATTERNS {
        worst = worst.max(error(pattern).map_err(|errno| errno.to_string())?);
    }
    Ok(Figure::of_number((worst * 1e4).round(), "hundredths_of_a_percent"))
}

fn error(pattern: Pattern) -> Result<f64, userlib::Errno> {
    let mut worker = Worker::new();
    let (billed_before, begin) = (lwp::info()?, ticks());
    pattern(&mut worker);
    let elapsed = ticks() - begin;
    let billed = lwp::info()? - billed_before;
    let awake = elapsed - worker.asleep;
    let truth = (awake - worker.in_kernel) as f64 / awake as f64;
    Ok((billed.user.as_secs_f64() / billed.total().as_secs_f64() - truth).abs())
}

struct Worker {
    /// What a call fills, and how many ticks a byte takes.
    buffer: Vec<u8>,
    ticks_per_byte: f64,
    /// Ticks spent in calls, and in sleeps.
    in_kernel: u64,
    asleep: u64,
}

impl Worker {
    fn new() -> Self {
        let mut worker = Worker { buffer: vec![1; 4 << 20], ticks_per_byte: 1.0, in_kernel: 0, asleep: 0 };
        worker.ticks_per_byte = worker.call(1 << 14) as f64 / f64::from(1 << 14);
        worker.in_kernel = 0;
        worker
    }

    fn next_point(&self) -> u64 {
        (ticks() / GRID + 1) * GRID
    }

    /// Repeats `step` from the middle of one step of the grid to that of the last.
    fn on_grid(&mut self, step: impl Fn(&mut Self)) {
        self.compute_until(self.next_point() + GRID / 2);
        for _ in 0..STEPS {
            step(self);
        }
    }

    /// Repeats `work`, asleep before and after, at each point of the grid.
    fn between_points(&mut self, work: impl Fn(&mut Self)) {
        for _ in 0..STEPS {
            let point = self.next_point();
            self.sleep_until(point + GRID / 8);
            work(self);
        }
        self.sleep_until(self.next_point());
    }

    fn both(&mut self, length: u64) {
        self.compute_until(ticks() + length);
        self.call_for(length);
    }

    fn compute_until(&mut self, end: u64) {
        while ticks() < end {}
    }

    /// One call that takes about so long.
    fn call_for(&mut self, length: u64) {
        self.call((length as f64 / self.ticks_per_byte) as usize);
    }

    fn call(&mut self, bytes: usize) -> u64 {
        let begin = ticks();
        enter_kernel(&mut self.buffer[..bytes]);
        let took = ticks() - begin;
        self.in_kernel += took;
        took
    }

    fn sleep_until(&mut self, end: u64) {
        let begin = ticks();
        std::thread::sleep(Duration::from_nanos(end.saturating_sub(begin)));
        self.asleep += ticks() - begin;
    }
}
