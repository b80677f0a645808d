//! How fast the clock of the load averages runs, made ready for the closed form.

use super::TIMES;
use crate::clock::Rate;

/// Periods in a second of this clock, at least.
const PERIODS: u64 = 2048;

/// No period has more ticks, so that a second moment of 2^17 changes fits 64 bits.
const LONGEST_PERIOD: u64 = 1 << 22;

/// Places that a slope has more than the average. Over the longest period its last one is 2^-26, so that 64 parts err by
/// 2^-20; and a part may close a gap by 2^15 LWPs in a period, which is more than can drift away from it in one (K16).
pub(super) const SLOPE_PLACES: u32 = 16;

/// Places of the quotients that the rates are made of: a scale of 14 bits still fits.
const PLACES: u32 = 128 - 14;

/// The clock of the load averages: how much of each average a tick takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Of each average: what it loses in a tick, `1 / T`, times `2^shift`. The first has its highest bit set.
    rates: [u64; 3],
    shift: u32,
    /// How long changes are only noted, in ticks.
    period: u64,
}

impl Pace {
    /// The largest scale.
    pub const FASTEST: u32 = 10_000;

    /// The clock of a counter that ticks at `rate`, `scale` times as fast as time. `None`: a scale that is not from 1 to
    /// [`Pace::FASTEST`].
    #[must_use]
    pub fn new(rate: Rate, scale: u32) -> Option<Pace> {
        if scale == 0 || scale > Self::FASTEST {
            return None;
        }
        let scaled = u128::from(scale) << PLACES;
        let wide = TIMES.map(|time| scaled / (u128::from(time) * u128::from(rate.hz())));
        let spare = i64::from(wide[0].leading_zeros()) - 64;
        let narrow = |rate: u128| if spare < 0 { rate >> -spare } else { rate << spare };
        let rates = wide.map(|rate| narrow(rate) as u64);
        let shift = (i64::from(PLACES) + spare) as u32;
        let period = (rate.hz() / (PERIODS * u64::from(scale))).min(LONGEST_PERIOD);
        Some(Pace { rates, shift, period })
    }

    /// How long changes are only noted, in ticks.
    #[inline]
    pub(super) const fn period(&self) -> u64 {
        self.period
    }

    /// `ticks / T` of average `index`, with 64 binary places.
    pub(super) const fn span(&self, index: usize, ticks: u64) -> u128 {
        (ticks as u128 * self.rates[index] as u128) >> (self.shift - 64)
    }

    /// How much of this gap average `index` closes in a tick, with [`SLOPE_PLACES`] more.
    pub(super) const fn slope(&self, index: usize, gap: i64) -> i64 {
        ((gap as i128 * self.rates[index] as i128) >> (self.shift - SLOPE_PLACES)) as i64
    }

    /// As [`Pace::span`], of a moment: a sum of ticks that may be negative.
    pub(super) const fn first(&self, index: usize, moment: i64) -> i128 {
        let size = self.span(index, moment.unsigned_abs()) as i128;
        if moment < 0 { -size } else { size }
    }

    /// `ticks^2 / 2 T^2` of a moment of squares, with 64 binary places.
    pub(super) const fn second(&self, index: usize, moment: i64) -> i128 {
        let rate = self.rates[index] as u128;
        let once = (moment.unsigned_abs() as u128 * rate) >> 64;
        let size = ((once * rate) >> (2 * self.shift - 127)) as i128;
        if moment < 0 { -size } else { size }
    }
}
