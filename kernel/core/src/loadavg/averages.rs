//! The averages of a whole set, and how they are shown.

use core::ops::AddAssign;

/// Places that are shown: half of the last is below the errors that the theory allows.
const SHOWN: u32 = 20;

/// The load averages of parts of a set, at one moment: of one part, or the sum so far; by [`TIMES`](super::TIMES).
///
/// With 32 binary places. Those of one part may be negative or too large for that and have wrapped; in the sum of all
/// it cancels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Averages(pub(super) [i64; 3]);

impl AddAssign for Averages {
    #[inline]
    fn add_assign(&mut self, other: Averages) {
        for (sum, part) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(part);
        }
    }
}

impl Averages {
    /// In units of `2^-places`, from 0 to 20 of them; the sum of all parts. For `sysinfo(2)` there are 16. Rounded from
    /// what is shown with 20, so that none of two readings of one moment contradicts the other.
    #[must_use]
    pub fn fixed(self, places: u32) -> [u64; 3] {
        let left_out = PLACES - places;
        self.0.map(|value| (rounded(shown(value).max(0), left_out) >> left_out) as u64)
    }

    /// As IEEE doubles, bit by bit, rounded to 2^-20; the sum of all parts. Exact, and made without floating point.
    #[inline]
    #[must_use]
    pub fn to_f64_bits(self) -> [u64; 3] {
        self.0.map(|value| double(shown(value)))
    }
}

/// Binary places of the values.
const PLACES: u32 = 32;

/// A value with those places that are shown, the others 0. Errors of the last place may leave a little less than nothing.
#[inline]
const fn shown(value: i64) -> i64 {
    rounded(value, PLACES - SHOWN)
}

/// `value` to the nearest whose last bits, so many, are 0.
#[inline]
const fn rounded(value: i64, left_out: u32) -> i64 {
    (value + ((1 << left_out) >> 1)) & (-1 << left_out)
}

/// The double that is `value / 2^PLACES`, of a value that is shown, whose last bits are 0; 0 below 0.
#[inline]
fn double(value: i64) -> u64 {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    const BIAS: u32 = f64::MAX_EXP as u32 - 1;
    if value <= 0 {
        return 0;
    }
    let highest = value.ilog2();
    // Either way: what leaves to the right is 0. The highest bit is not stored: it adds one to the exponent.
    let number = (value as u64).rotate_left(FRACTION.wrapping_sub(highest));
    number + (u64::from(BIAS + highest - PLACES - 1) << FRACTION)
}
