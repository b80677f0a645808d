//! Who may go first: an LWP that sleeps most of the time, when it wakes.
//!
//! **Problem.** Behind spinners, each with a slice of its own, an LWP that wakes to do a little waits for all of them.
//! **Answer.** Sleeping earns credit, a quarter of the time, up to a slice; running spends it. While an LWP has credit it
//! waits one priority above its own, and so runs at once. An LWP that runs more than a fifth of the time has none, and
//! takes its turn: two that wake each other by turns do not keep a third from running.

/// Ticks that an LWP may run ahead of its turn; negative: ticks it has run too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Credit(i64);

/// Of the time asleep, one part in so many is earned.
const SLEEP_PER_CREDIT: u64 = 4;

impl Credit {
    /// None.
    #[must_use]
    pub const fn new() -> Credit {
        Credit(0)
    }

    /// The LWP slept for `ticks`.
    #[inline]
    #[must_use]
    pub fn after_sleep(self, ticks: u64, slice: u64) -> Credit {
        let slice = slice as i64;
        let earned = i64::try_from(ticks / SLEEP_PER_CREDIT).unwrap_or(slice);
        Credit(self.0.saturating_add(earned).min(slice))
    }

    /// The LWP ran for `ticks`.
    #[inline]
    #[must_use]
    pub fn after_run(self, ticks: u64, slice: u64) -> Credit {
        let spent = ticks.min(2 * slice) as i64; // from the most credit there can be to the least
        Credit((self.0 - spent).max(-(slice as i64)))
    }

    /// Whether the LWP goes before those of its priority.
    #[inline]
    #[must_use]
    pub fn is_there(self) -> bool {
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: u64 = 1000;

    fn settled(run: u64, sleep: u64) -> Credit {
        (0..10_000).fold(Credit::new(), |credit, _| credit.after_run(run, SLICE).after_sleep(sleep, SLICE))
    }

    #[test]
    fn who_sleeps_four_fifths_of_the_time_goes_first() {
        assert!(settled(10, 100).is_there());
        assert!(settled(1, 10_000).is_there());
        assert!(!settled(30, 100).is_there());
        assert!(!settled(50, 50).is_there(), "two that wake each other take their turn");
        assert!(!Credit::new().is_there());
    }

    #[test]
    fn neither_a_long_sleep_nor_a_long_run_counts_for_ever() {
        let rested = Credit::new().after_sleep(u64::MAX, SLICE);
        assert!(!rested.after_run(SLICE, SLICE).is_there(), "a slice at most");
        let tired = Credit::new().after_run(u64::MAX, SLICE);
        assert!(tired.after_sleep(SLEEP_PER_CREDIT * (SLICE + 1), SLICE).is_there());
    }
}
