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
    use proptest::prelude::*;

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

    /// Any credit that a history can lead to.
    fn any_credit() -> impl Strategy<Value = Credit> {
        let ticks = prop_oneof![0..3 * SLICE, 0..20 * SLICE, any::<u64>()];
        prop::collection::vec((ticks.clone(), ticks), 0..20).prop_map(|history| {
            let live = |credit: Credit, (run, sleep)| credit.after_run(run, SLICE).after_sleep(sleep, SLICE);
            history.into_iter().fold(Credit::new(), live)
        })
    }

    proptest! {
        /// The model: a number without end, kept within a slice of nothing.
        #[test]
        fn credit_is_a_quarter_of_sleep_less_what_ran(credit in any_credit(), ticks: u64, shift in 0..64u32) {
            let ticks = ticks >> shift;
            let (now, slice) = (i128::from(credit.0), i128::from(SLICE));
            let model = |next: i128| next.clamp(-slice, slice);
            prop_assert_eq!(i128::from(credit.after_run(ticks, SLICE).0), model(now - i128::from(ticks)));
            prop_assert_eq!(i128::from(credit.after_sleep(ticks, SLICE).0), model(now + i128::from(ticks / 4)));
        }

        /// Nobody gains by giving way in between, or by waking up in between.
        #[test]
        fn pieces_are_worth_no_more_than_the_whole(credit in any_credit(), a in 0..3 * SLICE, b in 0..3 * SLICE) {
            let run = credit.after_run(a, SLICE).after_run(b, SLICE);
            prop_assert_eq!(run, credit.after_run(a + b, SLICE));
            let slept = credit.after_sleep(a, SLICE).after_sleep(b, SLICE);
            prop_assert!(slept.0 <= credit.after_sleep(a + b, SLICE).0);
        }
    }
}
