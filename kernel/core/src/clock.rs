//! Ticks of a counter and the nanoseconds they stand for.
//!
//! Sums are kept in ticks; nanoseconds exist only on the way out, each converted once from its sum. So nothing is
//! rounded twice, and the split of a time into parts never depends on a conversion. The rate is found once, at
//! boot, and never changes: ticks that were counted are not revalued.

/// Nanoseconds in a second.
pub const NANOSECONDS: u64 = 1_000_000_000;

/// How fast a counter counts, made ready for conversions without a division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    hz: u64,
    /// Nanoseconds of one tick in units of 2^-118, rounded up: `high * 2^64 + low`.
    high: u64,
    low: u64,
    /// The most ticks whose nanoseconds fit 64 bits.
    limit: u64,
    /// Ticks of one nanosecond are `hz_whole + hz_part / 10^9`, with `hz_part < 10^9`.
    hz_whole: u64,
    hz_part: u64,
}

/// Binary places of the nanoseconds of one tick.
const PLACES: u32 = 64 + HIGH_PLACES;
/// Those of them in the high word. With 54, ten bits are left for whole nanoseconds: the slowest counter's 1000.
const HIGH_PLACES: u32 = 54;

impl Rate {
    /// The slowest counter: its tick of 1000 ns fits the ten bits before the binary point.
    pub const SLOWEST_HZ: u64 = 1_000_000;
    /// The fastest: see [`Rate::nanoseconds`].
    pub const FASTEST_HZ: u64 = 1 << (PLACES - 64);

    /// A counter of `hz` ticks a second. `None` outside [`Rate::SLOWEST_HZ`] … [`Rate::FASTEST_HZ`].
    #[must_use]
    pub const fn new(hz: u64) -> Option<Rate> {
        if hz < Self::SLOWEST_HZ || hz > Self::FASTEST_HZ {
            return None;
        }
        // Long division in two digits; the remainder of the first is less than hz, so the second fits a word.
        let first = (NANOSECONDS as u128) << HIGH_PLACES;
        let second = (first % hz as u128) << 64;
        let tick = ((first / hz as u128) << 64) + second.div_ceil(hz as u128);
        let limit = ((hz as u128) << 64).div_ceil(NANOSECONDS as u128) - 1;
        Some(Rate {
            hz,
            high: (tick >> 64) as u64,
            low: tick as u64,
            limit: if limit > u64::MAX as u128 { u64::MAX } else { limit as u64 },
            hz_whole: hz / NANOSECONDS,
            hz_part: hz % NANOSECONDS,
        })
    }

    /// Ticks a second.
    #[must_use]
    pub const fn hz(self) -> u64 {
        self.hz
    }

    /// `floor(ticks * 10^9 / hz)`, exactly; `u64::MAX` where that is more (after 584 years).
    ///
    /// One tick's nanoseconds are too large by less than 2^-118, so the product is too large by less than
    /// `ticks / 2^118`, that is 2^-54. A true product that is not whole lies at least `1 / hz`, at least 2^-54, below the
    /// next whole number: the error never reaches it, and the floor is right.
    #[inline]
    #[must_use]
    pub const fn nanoseconds(self, ticks: u64) -> u64 {
        if ticks > self.limit {
            return u64::MAX;
        }
        let low = (ticks as u128 * self.low as u128) >> 64;
        ((ticks as u128 * self.high as u128 + low) >> HIGH_PLACES) as u64
    }

    /// The fewest ticks that last `nanoseconds` or longer, for deadlines that must not come early;
    /// `u64::MAX` where that is more.
    #[inline]
    #[must_use]
    pub const fn ticks_ceil(self, nanoseconds: u64) -> u64 {
        let (seconds, rest) = split_seconds(nanoseconds);
        let part = (rest * self.hz_part).div_ceil(NANOSECONDS);
        let below_second = rest.saturating_mul(self.hz_whole).saturating_add(part);
        seconds.saturating_mul(self.hz).saturating_add(below_second)
    }
}

/// Whole seconds, and the nanoseconds beyond them (0…999 999 999).
#[inline]
#[must_use]
pub const fn split_seconds(nanoseconds: u64) -> (u64, u64) {
    (nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `floor(ticks * 10^9 / hz)` in numbers that are wide enough.
    fn exact_nanoseconds(ticks: u64, hz: u64) -> u64 {
        u64::try_from(ticks as u128 * NANOSECONDS as u128 / hz as u128).unwrap_or(u64::MAX)
    }

    fn exact_ticks(nanoseconds: u64, hz: u64) -> u64 {
        let product = nanoseconds as u128 * hz as u128;
        u64::try_from(product.div_ceil(NANOSECONDS as u128)).unwrap_or(u64::MAX)
    }

    fn check(ticks: u64, hz: u64) {
        let rate = Rate::new(hz).unwrap();
        assert_eq!(rate.nanoseconds(ticks), exact_nanoseconds(ticks, hz), "{ticks} ticks at {hz} Hz");
        assert_eq!(rate.ticks_ceil(ticks), exact_ticks(ticks, hz), "{ticks} ns at {hz} Hz");
    }

    #[test]
    fn rates_outside_the_range_are_refused() {
        assert_eq!(Rate::new(0), None);
        assert_eq!(Rate::new(Rate::SLOWEST_HZ - 1), None);
        assert_eq!(Rate::new(Rate::FASTEST_HZ + 1), None);
        assert_eq!(Rate::new(u64::MAX), None);
        assert_eq!(Rate::new(Rate::FASTEST_HZ).unwrap().hz(), 1 << 54);
    }

    /// K05: the product of cycles and 10^9 leaves 64 bits within seconds, the multiplier below 1 GHz leaves 32. (Red where
    /// the product is made in 64 bits; so is K04.)
    #[test]
    fn k05_a_table_of_cycles_and_rates() {
        let rates = [
            1_000_000,
            1_000_001,
            3_579_545,
            62_500_000,
            999_999_999,
            1_000_000_000,
            1_000_000_001,
            2_400_000_000,
            3_200_000_000,
            4_294_967_295,
            4_294_967_296,
            6_000_000_000,
            (1 << 54) / 3,
            (1 << 54) - 1,
            1 << 54,
        ];
        let cycles = [
            0,
            1,
            2,
            999,
            1_000_000_000,
            6_000_000_000,
            18_446_744_073,
            18_446_744_074,
            19_200_000_000,
            1 << 32,
            1 << 53,
            1 << 62,
            u64::MAX / 1_000_000_000,
            u64::MAX / 2,
            u64::MAX - 1,
            u64::MAX,
        ];
        for hz in rates {
            for ticks in cycles {
                check(ticks, hz);
            }
        }
    }

    /// K04: 64 LWPs for 400 days, and one nanosecond beside them, added in ticks and converted once.
    #[test]
    fn k04_long_sums_neither_wrap_nor_stall_nor_lose_a_nanosecond() {
        let rate = Rate::new(3_000_000_000).unwrap();
        let day = 86_400 * rate.hz();
        let mut user = 0u64;
        for days in 1..=64 * 400 {
            user += day;
            assert_eq!(rate.nanoseconds(user), days * 86_400 * NANOSECONDS);
        }
        assert_eq!(rate.nanoseconds(user + 3) - rate.nanoseconds(user), 1);
        let slow = Rate::new(1_000_000).unwrap();
        assert_eq!(slow.nanoseconds(1_000_000_000_000_000), 1_000_000_000_000_000_000);
    }

    #[test]
    fn nanoseconds_saturate() {
        let slow = Rate::new(1_000_000).unwrap();
        assert_eq!(slow.nanoseconds(18_446_744_073_709_551), 18_446_744_073_709_551_000);
        assert_eq!(slow.nanoseconds(18_446_744_073_709_552), u64::MAX);
        assert_eq!(Rate::new(6_000_000_000).unwrap().ticks_ceil(u64::MAX), u64::MAX);
    }

    #[test]
    fn seconds_are_split_below_one_second() {
        assert_eq!(split_seconds(0), (0, 0));
        assert_eq!(split_seconds(999_999_999), (0, 999_999_999));
        assert_eq!(split_seconds(u64::MAX), (18_446_744_073, 709_551_615));
    }

    proptest! {
        #[test]
        fn conversions_are_exact(ticks: u64, hz in Rate::SLOWEST_HZ..=Rate::FASTEST_HZ) {
            check(ticks, hz);
        }

        #[test]
        fn conversions_are_exact_at_usual_rates(ticks: u64, hz in 1_000_000u64..=6_000_000_000) {
            check(ticks, hz);
        }

        /// A deadline is reached neither early nor a tick late.
        #[test]
        fn a_deadline_is_the_first_tick_that_is_late_enough(ns in 0..u64::MAX / 8, hz in 1_000_000u64..=6_000_000_000) {
            let rate = Rate::new(hz).unwrap();
            let ticks = rate.ticks_ceil(ns);
            prop_assert!(rate.nanoseconds(ticks) >= ns);
            prop_assert!(ticks == 0 || rate.nanoseconds(ticks - 1) < ns);
        }

        #[test]
        fn later_ticks_are_never_earlier_nanoseconds(a: u64, b: u64, hz in Rate::SLOWEST_HZ..=Rate::FASTEST_HZ) {
            let rate = Rate::new(hz).unwrap();
            prop_assert_eq!(rate.nanoseconds(a.min(b)).min(rate.nanoseconds(a.max(b))), rate.nanoseconds(a.min(b)));
        }
    }
}
