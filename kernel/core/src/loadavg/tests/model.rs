//! The averages by their definition, in numbers of 128 binary places and more.

use super::TIMES;
use dashu_float::{FBig, round::mode::HalfEven};

type Big = FBig<HalfEven, 2>;

const PRECISION: usize = 192;

/// `numerator / denominator`.
pub(super) fn ratio(numerator: u64, denominator: u64) -> Big {
    Big::from(numerator).with_precision(PRECISION).value()
        / Big::from(denominator).with_precision(PRECISION).value()
}

/// `exp(-ticks / T)` of the average `index`.
pub(super) fn decay(index: usize, ticks: u64, hz: u64, scale: u32) -> Big {
    (-(ratio(ticks, hz) * Big::from(scale) / Big::from(TIMES[index]))).exp()
}

/// The load so far, and how far the averages are from it.
pub(super) struct Model {
    hz: u64,
    scale: u32,
    now: u64,
    runnable: i64,
    gaps: [Big; 3],
}

impl Model {
    pub(super) fn new(hz: u64, scale: u32) -> Model {
        Model { hz, scale, now: 0, runnable: 0, gaps: core::array::from_fn(|_| ratio(0, 1)) }
    }

    pub(super) fn change(&mut self, now: u64, change: i64) {
        self.advance(now);
        self.runnable += change;
        for gap in &mut self.gaps {
            *gap += Big::from(change);
        }
    }

    pub(super) fn read(&mut self, now: u64) -> [f64; 3] {
        self.advance(now);
        core::array::from_fn(|index| (Big::from(self.runnable) - &self.gaps[index]).to_f64().value())
    }

    fn advance(&mut self, now: u64) {
        assert!(now >= self.now);
        for (index, gap) in self.gaps.iter_mut().enumerate() {
            *gap *= decay(index, now - self.now, self.hz, self.scale);
        }
        self.now = now;
    }
}

#[track_caller]
pub(super) fn assert_near(read: [f64; 3], exact: [f64; 3], bound: f64) {
    for (read, exact) in read.into_iter().zip(exact) {
        assert!((read - exact).abs() <= bound, "read {read}, exact {exact}, off by {:e}", read - exact);
    }
}
