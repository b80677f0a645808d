//! What an arena's size is charged with.

use crate::sema::heap::{Heap, LINE};
use crate::sema::history::History;
use syscalls::Errno;

/// For a record of the history, a meter and a debug record.
const RECORD: u64 = 64;
const METER: u64 = 192;
const DEBUG: u64 = 32;

/// The size, and what of it is used, but for the history.
#[derive(Debug)]
pub(in crate::sema) struct Budget {
    pub(super) size: u64,
    pub(super) heap: Heap,
    /// How many semaphores have a meter, and how many a debug record.
    pub(super) meters: u32,
    pub(super) debugs: u32,
}

impl Budget {
    /// `size` bytes, of which nothing is used. ENOMEM.
    pub(super) fn new(size: u64) -> Result<Budget, Errno> {
        Ok(Budget { size, heap: Heap::new((size / LINE) as u32)?, meters: 0, debugs: 0 })
    }

    /// How many bytes are used.
    #[inline]
    pub(super) fn used(&self, history: &History) -> u64 {
        u64::from(self.heap.taken()) * LINE
            + u64::from(self.meters) * METER
            + u64::from(self.debugs) * DEBUG
            + history.length() * RECORD
    }

    #[inline]
    pub(super) fn has_room(&self, history: &History, bytes: u64) -> bool {
        self.used(history) + bytes <= self.size
    }

    /// Whether there is room for one more meter.
    pub(super) fn has_meter(&self, history: &History) -> bool {
        self.has_room(history, METER)
    }

    /// For one more debug record.
    pub(super) fn has_debug(&self, history: &History) -> bool {
        self.has_room(history, DEBUG)
    }

    /// For one more record of the history.
    #[inline]
    pub(in crate::sema) fn has_record(&self, history: &History) -> bool {
        self.has_room(history, RECORD)
    }
}
