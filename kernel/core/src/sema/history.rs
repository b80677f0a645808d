//! The chain of records of an arena: a ring in pieces, which grows as far as it may and then lets the oldest go.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;
use syscalls::Errno;

/// Records in a piece.
const PIECE: u64 = 64;

/// An operation on a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Where in the arena the semaphore is, in lines.
    pub line: u32,
    /// One of [`syscalls::sema::operation`].
    pub operation: u32,
    /// The count afterwards; where LWPs wait, minus their number.
    pub count: i32,
    /// Whose operation.
    pub pid: u32,
    /// Which LWP's.
    pub tid: u32,
    /// Whom it woke: pid and tid, or zeroes.
    pub woken: (u32, u32),
    /// Where the call was.
    pub pc: u64,
    /// When, in ticks.
    pub time: u64,
}

/// Records by position: rising numbers, never used twice.
#[derive(Debug)]
pub struct History {
    is_on: bool,
    /// At most so many; 0: as many as there is memory for.
    most: u64,
    /// Pieces that are full, and the last, which is being filled.
    full: VecDeque<Vec<Record>>,
    last: Vec<Record>,
    /// A piece that became empty, for the next that is needed.
    spare: Option<Vec<Record>>,
    positions: Range<u64>,
    errors: u64,
    /// How often it was emptied.
    resets: u64,
}

/// What there is to be had at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The positions, oldest first.
    pub positions: Range<u64>,
    /// Records that can no longer be had.
    pub errors: u64,
    /// How often the history was emptied: positions of before are no more.
    pub resets: u64,
}

impl History {
    /// Empty and off.
    #[must_use]
    pub const fn new() -> History {
        History {
            is_on: false,
            most: 0,
            full: VecDeque::new(),
            last: Vec::new(),
            spare: None,
            positions: 0..0,
            errors: 0,
            resets: 0,
        }
    }

    /// Whether operations are recorded.
    #[inline]
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn switch(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// How many records are held.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.positions.end - self.positions.start
    }

    /// What can be had now.
    #[must_use]
    pub fn extent(&self) -> Extent {
        Extent { positions: self.positions.clone(), errors: self.errors, resets: self.resets }
    }

    /// The record at a position, if it is still there.
    #[must_use]
    pub fn record(&self, position: u64) -> Option<&Record> {
        if !self.positions.contains(&position) {
            return None;
        }
        let piece = (position / PIECE - self.positions.start / PIECE) as usize;
        self.full.get(piece).unwrap_or(&self.last).get((position % PIECE) as usize)
    }

    /// Adds a record; where it may not grow, the oldest goes, and where there is no room even so, the new one is lost.
    #[inline(always)]
    pub(super) fn add(&mut self, record: Record, may_grow: impl FnOnce(&History) -> bool) {
        let is_full = self.most != 0 && self.length() >= self.most || !may_grow(self);
        if is_full && !self.drop_one() || self.make_room().is_err() {
            self.errors += 1;
            return;
        }
        self.last.push(record);
        self.positions.end += 1;
    }

    /// Makes sure that the last piece has room for one more. ENOMEM.
    #[inline]
    fn make_room(&mut self) -> Result<(), Errno> {
        if self.positions.end.is_multiple_of(PIECE) { self.begin_piece() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn begin_piece(&mut self) -> Result<(), Errno> {
        self.full.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        let mut piece = self.spare.take().unwrap_or_default();
        piece.clear();
        piece.try_reserve_exact(PIECE as usize).map_err(|_| Errno::ENOMEM)?;
        let last = mem::replace(&mut self.last, piece);
        if !last.is_empty() {
            self.full.push_back(last);
        }
        Ok(())
    }

    /// Lets go of the oldest record, which counts as lost; false: there is none.
    #[inline]
    fn drop_one(&mut self) -> bool {
        if self.positions.is_empty() {
            return false;
        }
        self.positions.start += 1;
        self.errors += 1;
        if self.positions.start.is_multiple_of(PIECE) {
            self.drop_pieces(1);
        }
        true
    }

    /// The same with the oldest records, at most `count`.
    fn drop_oldest(&mut self, count: u64) {
        let count = count.min(self.length());
        let first_piece = self.positions.start / PIECE;
        self.positions.start += count;
        self.errors += count;
        self.drop_pieces(self.positions.start / PIECE - first_piece);
    }

    #[cold]
    #[inline(never)]
    fn drop_pieces(&mut self, count: u64) {
        for _ in 0..count {
            self.spare = Some(self.full.pop_front().unwrap_or_else(|| mem::take(&mut self.last)));
        }
    }

    /// Bounds the number of records; 0: by memory alone. The oldest beyond that go.
    pub(super) fn bound(&mut self, most: u64) {
        self.most = most;
        if most != 0 {
            self.drop_oldest(self.length().saturating_sub(most));
        }
    }

    /// Empties it, and forgets what was lost.
    pub(super) fn reset(&mut self) {
        let next = self.positions.end.next_multiple_of(PIECE);
        self.positions = next..next;
        self.full = VecDeque::new();
        self.last = Vec::new();
        self.errors = 0;
        self.resets += 1;
    }
}

impl Default for History {
    fn default() -> History {
        History::new()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(number: u64) -> Record {
        Record { line: 0, operation: 1, count: 0, pid: 1, tid: 1, woken: (0, 0), pc: 0, time: number }
    }

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Add(bool),
        Bound(u64),
        Reset,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            40 => prop::bool::weighted(0.9).prop_map(Step::Add),
            1 => (0..150u64).prop_map(Step::Bound),
            1 => Just(Step::Reset),
        ]
    }

    proptest! {
        /// It holds the newest, in order, and every record is either held or counted as lost.
        #[test]
        fn the_newest_are_kept_and_the_others_counted(steps in prop::collection::vec(step(), 0..600)) {
            let (mut history, mut model, mut most, mut lost) = (History::new(), VecDeque::new(), 0, 0);
            for (number, step) in (0u64..).zip(steps) {
                match step {
                    Step::Add(may_grow) => {
                        let full = !may_grow || most != 0 && model.len() as u64 >= most;
                        if full {
                            lost += 1;
                        }
                        if !full || model.pop_front().is_some() {
                            model.push_back(number);
                        }
                        history.add(record(number), |_| may_grow);
                    }
                    Step::Bound(bound) => {
                        most = bound;
                        while bound != 0 && model.len() as u64 > bound {
                            model.pop_front();
                            lost += 1;
                        }
                        history.bound(bound);
                    }
                    Step::Reset => {
                        model.clear();
                        lost = 0;
                        history.reset();
                    }
                }
                let extent = history.extent();
                prop_assert_eq!(extent.errors, lost);
                let held: Vec<u64> = extent.positions.clone().map(|at| history.record(at).unwrap().time).collect();
                prop_assert_eq!(held, model.iter().copied().collect::<Vec<_>>());
                prop_assert!(history.record(extent.positions.end).is_none());
            }
        }
    }
}
