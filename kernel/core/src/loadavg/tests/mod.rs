//! The averages against a model in big floating-point numbers, and against closed forms where there are too many changes
//! to follow one by one.

mod decay;
mod known_faults;
mod long;
mod model;
mod parts;
mod show;

use super::{Averages, Pace, Part, TIMES};
use crate::clock::Rate;
use model::{Model, assert_near};

/// The clock of most tests: a nanosecond a tick.
const HZ: u64 = 1_000_000_000;

/// What the specification allows: 2^-16.
const BOUND: f64 = 1.0 / 65_536.0;

fn pace(hz: u64, scale: u32) -> Pace {
    Pace::new(Rate::new(hz).unwrap(), scale).unwrap()
}

/// As a program sees them.
fn shown(averages: Averages) -> [f64; 3] {
    averages.to_f64_bits().map(f64::from_bits)
}

/// A set of one part beside its model.
struct Watched {
    pace: Pace,
    part: Part,
    model: Model,
    now: u64,
}

impl Watched {
    fn new(hz: u64, scale: u32) -> Watched {
        Watched { pace: pace(hz, scale), part: Part::new(), model: Model::new(hz, scale), now: 1 }
    }

    /// Lets `ticks` pass, then changes the load by as many LWPs as said.
    fn after(&mut self, ticks: u64, change: i64) {
        self.now += ticks;
        for _ in 0..change.abs() {
            match change > 0 {
                true => self.part.more(self.now, &self.pace),
                false => self.part.less(self.now, &self.pace),
            }
        }
        self.model.change(self.now, change);
    }

    fn read(&mut self) -> [f64; 3] {
        shown(self.part.read(self.now, &self.pace).unwrap())
    }

    /// Asserts that what is read is what the model says.
    #[track_caller]
    fn check(&mut self, bound: f64) {
        assert_near(self.read(), self.model.read(self.now), bound);
    }
}
