//! Load averages: what asking costs, and how far they are from the exact ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use programs::futex;
use userlib::Errno;
use userlib::pset::{self, PsetId};

use crate::calls::{calls_with_third, empty};
use crate::measure::{BATCH, Figure, Outcome, batches};

/// The averages' time constants, in seconds.
const TIMES: [f64; 3] = [60.0, 300.0, 900.0];

/// All three of the default set.
pub(crate) fn getloadavg() -> Outcome {
    let mut averages = [0.0_f64; 3];
    let place = (&raw mut averages).expose_provenance() as u64;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(5) {} // until none of them is 0, which would take fewer steps
    let mut failed = None;
    let figure = batches(
        || {
            let number = syscalls::number::pset_getloadavg as u64;
            // SAFETY: the place has room for three.
            let (ticks, result) =
                unsafe { calls_with_third(BATCH, number, [PsetId::DEFAULT.raw() as u64, place, 3]) };
            failed = failed.or(Errno::from_return(result).err());
            ticks
        },
        empty,
    );
    failed.map_or(Ok(figure), |errno| Err(errno.to_string()))
}

fn averages() -> [f64; 3] {
    pset::load_averages(PsetId::DEFAULT).expect("the default set is there")
}

/// Threads that are busy in a part of each period.
struct Schedule {
    threads: u32,
    /// Of the period of 5.004 s in which others sample, which is 0 to 1: where they begin, and how long they are busy.
    begin: f64,
    length: f64,
}

/// What fools samplers: over the sampling point, which is at 0, or between two of them.
const SCHEDULES: [Schedule; 3] = [
    Schedule { threads: 4, begin: 0.9, length: 1.0 / 5.004 },
    Schedule { threads: 4, begin: 0.3, length: 1.0 / 5.004 },
    Schedule { threads: 2, begin: 0.1, length: 0.8 },
];

/// So much faster than time the averages' clock runs: this row wants the option `loadavg-scale=12`.
const SCALE: f64 = 12.0;
const PERIOD: f64 = 5.004 / SCALE;
/// A quarter of a minute of the averages' clock.
const PERIODS: u32 = 3;

/// The worst error at the end of a period, of all schedules and averages, in hundredths of a per cent of one LWP.
pub(crate) fn worst_error() -> Outcome {
    let worst = SCHEDULES.iter().map(error_of).fold(0.0, f64::max);
    Ok(Figure::of_number((worst * 1e6).round() / 1e2, "hundredths_of_a_percent"))
}

fn error_of(schedule: &Schedule) -> f64 {
    let crowd = Spinners::start(schedule.threads);
    thread::sleep(Duration::from_millis(50)); // all of them sleep
    let mut exact = Exact { values: averages(), load: 0.0, at: Instant::now() };
    let begin = exact.at;
    let mut worst = 0.0_f64;
    for period in 0..PERIODS {
        let at = |part: f64| begin + Duration::from_secs_f64(PERIOD * (f64::from(period) + part));
        sleep_until(at(schedule.begin));
        exact.change(crowd.turn(), f64::from(schedule.threads));
        sleep_until(at(schedule.begin + schedule.length));
        exact.change(crowd.turn(), 0.0);
        sleep_until(at(1.3));
        exact.change(Instant::now(), 0.0);
        for (read, value) in averages().into_iter().zip(exact.values) {
            worst = worst.max((read - value).abs());
        }
    }
    crowd.end();
    worst
}

fn sleep_until(moment: Instant) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
}

/// The exact averages: the closed form over spans of constant load.
struct Exact {
    values: [f64; 3],
    load: f64,
    at: Instant,
}

impl Exact {
    fn change(&mut self, now: Instant, load: f64) {
        let span = (now - self.at).as_secs_f64() * SCALE;
        for (value, time) in self.values.iter_mut().zip(TIMES) {
            *value = self.load + (*value - self.load) * (-span / time).exp();
        }
        (self.at, self.load) = (now, load);
    }
}

/// Threads that all spin while a word is odd, and sleep while it is even.
struct Spinners {
    word: Arc<AtomicU32>,
    threads: Vec<thread::JoinHandle<()>>,
}

const END: u32 = u32::MAX;

impl Spinners {
    fn start(count: u32) -> Self {
        let word = Arc::new(AtomicU32::new(0));
        let threads = (0..count).map(|_| {
            let word = word.clone();
            thread::spawn(move || spin_and_sleep(&word))
        });
        Spinners { threads: threads.collect(), word }
    }

    /// Has them spin, or sleep; returns when.
    fn turn(&self) -> Instant {
        let now = Instant::now();
        self.word.fetch_add(1, SeqCst);
        futex::wake(&self.word, futex::ALL);
        now
    }

    fn end(self) {
        self.word.store(END, SeqCst);
        futex::wake(&self.word, futex::ALL);
        self.threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
    }
}

fn spin_and_sleep(word: &AtomicU32) {
    loop {
        match word.load(SeqCst) {
            END => return,
            even if even % 2 == 0 => futex::wait(word, even),
            _ => {} // and no `pause`, which takes QEMU long in virtual time
        }
    }
}
