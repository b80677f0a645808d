//! What its instruments are told.

use super::{Caller, Scene, Semaphore};
use crate::clock::Rate;
use crate::sema::history::Record;
use crate::sema::waiter::{Waiter, Waiters};

impl Semaphore {
    #[inline]
    pub(super) fn note_acquire(&mut self, has_token: bool) {
        if let Some(meter) = &mut self.meter {
            meter.add_acquire(has_token);
        }
    }

    #[inline]
    pub(super) fn note_release(&mut self, waiting: u32) {
        if let Some(meter) = &mut self.meter {
            meter.add_release(waiting);
        }
    }

    /// A wait that began while the meter was on has ended.
    #[inline]
    pub(super) fn note_wait(&mut self, waiter: &Waiter, rate: &Rate, now: impl Fn() -> u64) {
        if let Some(meter) = &mut self.meter
            && waiter.since() != 0
        {
            meter.add_wait(rate.nanoseconds(now().saturating_sub(waiter.since())));
        }
    }

    #[inline]
    pub(super) fn note_owner(&mut self, caller: &Caller) {
        if let Some(debug) = &mut self.debug {
            debug.acquired(caller.user());
        }
    }

    /// Records an operation, where that is wanted.
    #[inline(always)]
    pub(super) fn note<W: Waiters, N: Fn() -> u64>(
        &self,
        scene: &mut Scene<W, N>,
        operation: u32,
        caller: &Caller,
        woken: Option<&Waiter>,
    ) {
        if !(self.keeps_history && scene.history.is_on()) {
            return;
        }
        let woken = woken.map_or((0, 0), |waiter| (waiter.user().pid, waiter.tid()));
        let count = self.test(scene.word);
        let Caller { pid, tid, pc, .. } = *caller;
        let record = Record { line: self.line, operation, count, pid, tid, woken, pc, time: (scene.now)() };
        let budget = scene.budget;
        scene.history.add(record, |history| budget.has_record(history));
    }
}
