//! What a CPU is to do next, as a value.

use super::queue::{Priority, RunQueue};
use crate::list::Slot;

/// What a CPU is to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use = "a decision that nobody acts on is lost"]
pub enum Switch {
    /// Go on with what it does.
    #[default]
    Stay,
    /// Switch to this slot, which is the first of the queue: to be popped.
    To(Slot),
    /// Nobody wants it.
    Idle,
}

impl Switch {
    /// Two decisions about one CPU, `later` taken after this one: the later saw more, unless it had nothing to say.
    /// Associative; [`Switch::Stay`] is neutral.
    pub const fn then(self, later: Switch) -> Switch {
        match later {
            Switch::Stay => self,
            Switch::To(_) | Switch::Idle => later,
        }
    }
}

/// Why it is asked who gets the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Who has it blocks, is stopped or ends.
    GivesUp,
    /// Who has it lets others go first.
    Yields,
    /// Who has it has had its share.
    SliceEnds,
    /// Somebody came to the queue.
    OtherReady,
}

/// Who gets the CPU: `current` has it (its priority; `None`: the CPU is idle) and is not in `queue`.
///
/// A better one always gets it; an equal one when the present one yields or has had its share.
#[inline]
pub fn decide(current: Option<Priority>, queue: &RunQueue, reason: Reason) -> Switch {
    let current = current.filter(|_| reason != Reason::GivesUp);
    match (current, queue.first()) {
        (None, None) => Switch::Idle,
        (None, Some((slot, _))) => Switch::To(slot),
        (Some(current), Some((slot, best))) if best > current => Switch::To(slot),
        (Some(current), Some((slot, best))) if best == current && reason != Reason::OtherReady => {
            Switch::To(slot)
        }
        (Some(_), _) => Switch::Stay,
    }
}

/// When the share of who has the CPU since `since` is over, if `length` is a share: `None` while nobody waits who
/// would get the CPU then, so that a lone LWP takes no timer interrupts. To be asked anew when somebody comes.
#[inline]
#[must_use]
pub fn slice_end(current: Priority, queue: &RunQueue, since: u64, length: u64) -> Option<u64> {
    let (_, best) = queue.first()?;
    (best >= current).then_some(since.saturating_add(length))
}
