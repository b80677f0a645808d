//! The method: batches, minimum and median.

use std::arch::asm;
use std::fmt;

/// Operations in a batch.
pub(crate) const BATCH: u64 = 100;

/// Batches in a row.
pub(crate) const BATCHES: usize = 40;

/// A row's figure, or why there is none.
pub(crate) type Outcome = Result<Figure, String>;

/// What one operation comes to, in hundredths of the unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost(i64);

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % BATCH as i64 {
            0 => write!(f, "{}", self.0 / BATCH as i64),
            _ => write!(f, "{:.2}", self.0 as f64 / BATCH as f64),
        }
    }
}

/// What a row came to.
pub(crate) struct Figure {
    pub(crate) minimum: Cost,
    pub(crate) median: Cost,
    pub(crate) unit: &'static str,
}

impl Figure {
    /// Of the ticks of several batches.
    pub(crate) fn of_batches(mut ticks: Vec<i64>) -> Self {
        ticks.sort_unstable();
        Figure { minimum: Cost(ticks[0]), median: Cost(ticks[ticks.len() / 2]), unit: "instructions" }
    }

    /// One number that was not counted in instructions.
    pub(crate) fn of_number(number: f64, unit: &'static str) -> Self {
        let cost = Cost((number * BATCH as f64).round() as i64);
        Figure { minimum: cost, median: cost, unit }
    }

    /// The median of nanoseconds on a machine whose time does not repeat.
    pub(crate) fn of_times(mut nanoseconds: Vec<f64>) -> Self {
        nanoseconds.sort_unstable_by(f64::total_cmp);
        Self::of_number(nanoseconds[nanoseconds.len() / 2].round(), "ns")
    }

    /// Of the ticks of single operations.
    pub(crate) fn of_operations(ticks: impl Iterator<Item = u64>) -> Self {
        Self::of_batches(ticks.map(|ticks| (ticks * BATCH) as i64).collect())
    }

    /// Whether the median is the minimum: within half an instruction for one operation, or for long ones, whose
    /// paths depend on what memory looks like and among which now and then one brings the load averages up to date, within
    /// a four-hundredth.
    pub(crate) fn is_steady(&self) -> bool {
        self.median.0 - self.minimum.0 < (BATCH as i64 / 2).max(self.minimum.0 / 400)
    }
}

/// Runs `batch` often enough, and `empty`, the same loop without the operation, as often.
pub(crate) fn batches(mut batch: impl FnMut() -> u64, mut empty: impl FnMut() -> u64) -> Figure {
    let overhead = (0..BATCHES).map(|_| empty()).min().expect("there are batches");
    Figure::of_batches((0..BATCHES).map(|_| batch() as i64 - overhead as i64).collect())
}

/// The time-stamp counter, read after everything before it and before everything behind it.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user mode may read; the fence orders it.
    unsafe { asm!("lfence", "rdtsc", "lfence", out("rax") low, out("rdx") high, options(nostack)) };
    high << 32 | low
}
