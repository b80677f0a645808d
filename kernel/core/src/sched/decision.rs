//! What a CPU does when a slice ends, as a value.
//!
//! **Problem.** A better priority always goes first, and yet nobody is to be kept out for good: an LWP of low priority may
//! hold what one of high priority waits for. **Answer.** Where those of lower priority have waited long, one of them has a
//! *turn*: a slice at the highest priority. Turns go down the levels, one a turn, and begin again above, so no level is
//! left out, however many wait above it; and within a level the queue's order holds. It costs nothing in a switch: who asks
//! is the timer, which runs about once a slice while anybody waits.

use super::queue::{Priority, RunQueue};
use crate::list::Slot;

/// What is to be done when the running LWP's slice is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a decision that nobody acts on is lost"]
pub enum AfterSlice {
    /// It has another: all who wait are of lower priority.
    Stay,
    /// It gives way to the first in the queue.
    Rotate,
    /// It gives way to this one, of lower priority, whose turn it is.
    Turn(Slot),
}

/// The turns of those who wait at lower priority than the LWP that runs.
#[derive(Debug)]
pub struct Turns {
    /// When one of them last had a turn, or none of them waited.
    since: u64,
    /// Of which level that was: the next turn goes to one below.
    last: Priority,
}

impl Turns {
    /// Nobody waits.
    #[must_use]
    pub const fn new() -> Turns {
        Turns { since: 0, last: Priority::new(0) }
    }

    /// Whether one of those who wait below `running` has waited for `patience` ticks; to be asked about once a slice.
    #[inline]
    #[must_use]
    pub fn is_due(&mut self, running: Priority, queue: &RunQueue, now: u64, patience: u64) -> bool {
        if queue.first_below(running).is_none() {
            self.since = now;
        }
        now.saturating_sub(self.since) >= patience
    }

    /// What to do when the slice of an LWP that runs at `running` is over; a turn that is given begins.
    pub fn after_slice(
        &mut self,
        running: Priority,
        queue: &RunQueue,
        now: u64,
        patience: u64,
    ) -> AfterSlice {
        if self.is_due(running, queue, now, patience) {
            let next = queue.first_below(self.last.min(running)).or_else(|| queue.first_below(running));
            if let Some((slot, level)) = next {
                *self = Turns { since: now, last: level };
                return AfterSlice::Turn(slot);
            }
        }
        match queue.first() {
            Some((_, best)) if best >= running => AfterSlice::Rotate,
            _ => AfterSlice::Stay,
        }
    }
}

impl Default for Turns {
    fn default() -> Turns {
        Turns::new()
    }
}
