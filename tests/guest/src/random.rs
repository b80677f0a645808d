//! Numbers that look random and come from a seed, which a failure tells.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A generator (splitmix64).
#[derive(Debug, Clone)]
pub struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// Begins with the seed that `TALLY_SEED` names, and otherwise with the time of day. Under `--icount` that is the
    /// same in every run.
    #[must_use]
    pub fn seeded() -> Self {
        let given = std::env::var("TALLY_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        Random::new(given.unwrap_or_else(now))
    }

    /// Begins with a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Random { seed, state: seed }
    }

    /// Another one, for a thread or child of its own.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Random { seed: self.seed, state: self.number() }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.number() >> 16) % end
    }

    /// Whether it is that one time of `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

impl fmt::Display for Random {
    /// How to repeat what failed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TALLY_SEED={}", self.seed)
    }
}
