//! A period in which nothing changes: what most readings find, made ready when it begins.

use super::averages::Averages;
use super::pace::{Pace, SLOPE_PLACES};

/// The averages at the beginning of a period, and where they go if nothing changes: `L(x) = L0 + r x (n - L0)`.
#[derive(Debug)]
pub(super) struct Steady {
    /// How many changes there had been when it began.
    changes: u32,
    /// With 32 binary places.
    averages: [i64; 3],
    /// In a tick, with [`SLOPE_PLACES`] more.
    slopes: [i64; 3],
}

impl Steady {
    /// Nothing ever was.
    pub(super) const fn new() -> Steady {
        Steady { changes: 0, averages: [0; 3], slopes: [0; 3] }
    }

    /// Begins after so many changes with so many runnable, and with averages of 64 places.
    pub(super) fn begin(changes: u32, runnable: i64, averages: [i128; 3], pace: &Pace) -> Steady {
        let averages = averages.map(|average| (average >> 32) as i64);
        let gap = |index: usize| (runnable << 32).wrapping_sub(averages[index]);
        let slopes = core::array::from_fn(|index| pace.slope(index, gap(index)));
        Steady { changes, averages, slopes }
    }

    /// Whether nothing has changed: there were as many changes.
    #[inline]
    pub(super) const fn holds(&self, changes: u32) -> bool {
        self.changes == changes
    }

    /// The averages after so many ticks, fewer than the period has.
    #[inline(always)]
    pub(super) fn after(&self, ticks: u64) -> Averages {
        let closed = |index: usize| self.slopes[index].wrapping_mul(ticks as i64) >> SLOPE_PLACES;
        Averages(core::array::from_fn(|index| self.averages[index].wrapping_add(closed(index))))
    }
}
