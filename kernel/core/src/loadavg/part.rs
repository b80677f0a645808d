//! One CPU's part of a set's averages.

use super::averages::Averages;
use super::decay::{gain, loss, part_of};
use super::log::Log;
use super::pace::Pace;
use super::steady::Steady;

/// A part of a set's load averages: the LWPs that became runnable here, less those that ceased to be.
///
/// Plain data for whoever holds its lock: a CPU's dispatcher's, or that of the set's own part. Stamps are ticks of the
/// clock that the [`Pace`] was made for; they are taken with the lock held and never fall.
#[derive(Debug)]
pub struct Part {
    /// When the period ends in which changes are only noted.
    until: u64,
    /// The last stamp, of whatever was done here.
    latest: u64,
    /// When it began, and what the averages were then, with 64 binary places.
    since: u64,
    averages: [i128; 3],
    /// How many LWPs are runnable, as far as this part knows.
    runnable: i64,
    /// Of the changes in the period: the sum of their offsets from its beginning, signed; and of the squares.
    first: i64,
    second: i64,
    log: Log,
    /// As it goes on from the beginning of the period, until something changes.
    steady: Steady,
}

/// So much happened here after the reader's `now` that the part does not remember how it was: take a new one and begin
/// anew, best with this part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overtaken;

impl Part {
    /// Nothing runs and nothing ever did.
    #[must_use]
    pub const fn new() -> Part {
        Part {
            until: 0,
            latest: 0,
            since: 0,
            averages: [0; 3],
            runnable: 0,
            first: 0,
            second: 0,
            log: Log::new(),
            steady: Steady::new(),
        }
    }

    /// An LWP becomes runnable at `now`: it woke, began, or came from another set.
    #[inline]
    pub fn more(&mut self, now: u64, pace: &Pace) {
        if now >= self.until {
            self.fold(now, pace);
        }
        let offset = (now - self.since) as i64;
        self.runnable += 1;
        self.first += offset;
        self.second += offset * offset;
        self.latest = now;
        self.log.note(now as i64);
    }

    /// An LWP is no longer runnable at `now`: it blocks, ended, or went to another set.
    #[inline]
    pub fn less(&mut self, now: u64, pace: &Pace) {
        if now >= self.until {
            self.fold(now, pace);
        }
        let offset = (now - self.since) as i64;
        self.runnable -= 1;
        self.first -= offset;
        self.second -= offset * offset;
        self.latest = now;
        self.log.note(-(now as i64));
    }

    /// How many are runnable; means something only as a sum over all parts.
    #[must_use]
    pub const fn runnable(&self) -> i64 {
        self.runnable
    }

    /// Whether nothing is runnable and nothing is left of what was, at `now`, after the last change.
    pub fn is_at_rest(&mut self, now: u64, pace: &Pace) -> bool {
        self.fold(now, pace);
        self.runnable == 0 && self.averages == [0; 3]
    }

    /// This part's share in the averages as they are at `now`, also where it has changed since.
    #[inline]
    pub fn read(&mut self, now: u64, pace: &Pace) -> Result<Averages, Overtaken> {
        self.read_steady(now, pace).map_or_else(|| self.read_thoroughly(now, pace), Ok)
    }

    /// The same, if nothing has changed since the period began that `now` is in.
    #[inline(always)]
    #[must_use]
    pub fn read_steady(&self, now: u64, pace: &Pace) -> Option<Averages> {
        let ticks = now.wrapping_sub(self.since); // large where `now` is before it
        let is_steady = ticks < pace.period() && self.steady.holds(self.log.count());
        is_steady.then(|| self.steady.after(ticks))
    }

    #[cold]
    fn read_thoroughly(&mut self, now: u64, pace: &Pace) -> Result<Averages, Overtaken> {
        if now < self.latest {
            return self.read_back(now, pace);
        }
        self.fold(now, pace);
        Ok(self.steady.after(0))
    }

    /// Takes over what `other` holds at `now`, which is left as if new: its CPU leaves the set. Nobody reads the set
    /// meanwhile with an earlier `now`.
    pub fn absorb(&mut self, other: &mut Part, now: u64, pace: &Pace) {
        self.fold(now, pace);
        other.fold(now, pace);
        self.runnable += other.runnable;
        for (own, others) in self.averages.iter_mut().zip(other.averages) {
            *own += others;
        }
        *other = Part::new();
        self.settle(pace);
    }

    /// As if so many LWPs had always been runnable.
    #[cfg(test)]
    pub(super) fn drift_for_test(&mut self, runnable: i64) {
        self.runnable = runnable;
        self.averages = [self.level(); 3];
    }

    /// Closes the period at `now`, after the last change, and begins the next.
    #[cold]
    fn fold(&mut self, now: u64, pace: &Pace) {
        self.averages = core::array::from_fn(|index| {
            let gap = self.frozen_gap(index, pace);
            self.level() - (gap - part_of(gap, loss(pace.span(index, now - self.since))))
        });
        (self.first, self.second) = (0, 0);
        (self.since, self.latest) = (now, now);
        self.until = now + pace.period();
        self.settle(pace);
    }

    /// Makes ready for readings before the next change.
    fn settle(&mut self, pace: &Pace) {
        self.steady = Steady::begin(self.log.count(), self.runnable, self.averages, pace);
    }

    /// The averages at `now`, before the last changes: the closed form run backwards.
    fn read_back(&self, now: u64, pace: &Pace) -> Result<Averages, Overtaken> {
        let mut runnable = self.runnable;
        let mut gaps: [i128; 3] = core::array::from_fn(|index| self.frozen_gap(index, pace));
        for (index, gap) in gaps.iter_mut().enumerate() {
            *gap = aged(*gap, index, self.since, now, pace)?;
        }
        for (stamp, change) in self.log.after(now).ok_or(Overtaken)? {
            runnable -= change;
            for (index, gap) in gaps.iter_mut().enumerate() {
                *gap -= aged(i128::from(change) << 64, index, stamp, now, pace)?;
            }
        }
        let level = i128::from(runnable) << 64;
        Ok(Averages(gaps.map(|gap| ((level - gap) >> 32) as i64)))
    }

    /// The gap with all changes of the period put back to its beginning, each grown as much as it will have lost less.
    fn frozen_gap(&self, index: usize, pace: &Pace) -> i128 {
        let moments = pace.first(index, self.first) + pace.second(index, self.second);
        self.level() - self.averages[index] + moments
    }

    fn level(&self) -> i128 {
        i128::from(self.runnable) << 64
    }
}

impl Default for Part {
    fn default() -> Part {
        Part::new()
    }
}

/// What a gap of moment `from` is at `to`, which may be earlier by one time constant at most.
fn aged(gap: i128, index: usize, from: u64, to: u64, pace: &Pace) -> Result<i128, Overtaken> {
    if from <= to {
        return Ok(gap - part_of(gap, loss(pace.span(index, to - from))));
    }
    let span = pace.span(index, from - to);
    if span > 1 << 64 {
        return Err(Overtaken);
    }
    let gain = gain(span);
    Ok(gap + part_of(gap, gain as u64) + if gain >> 64 == 0 { 0 } else { gap })
}
