//! Frames on their way out of page tables, until no CPU can reach them any more.

use core::ops::Range;

use arrayvec::ArrayVec;

use super::frames::Frame;
use super::layout::PAGE_SIZE;
use super::table::{Entry, Mapping, OWNED};
use super::tlb;

/// How many frames wait for one shoot-down.
const BATCH: usize = 64;

/// Frames whose entries are cleared while CPUs may still have the translations. They are let go of after a
/// shoot-down: when the batch is full, and when this value is dropped.
pub(super) struct Retired {
    root: u64,
    range: Range<u64>,
    changed: bool,
    frames: ArrayVec<Frame, BATCH>,
}

impl Retired {
    /// For changes to `range` in the tables below `root`.
    pub(super) fn new(root: u64, range: Range<u64>) -> Retired {
        Retired { root, range, changed: false, frames: ArrayVec::new() }
    }

    /// Clears an entry, and keeps the frame that it held.
    pub(super) fn take(&mut self, entry: &Entry) {
        if self.frames.is_full() {
            self.release();
        }
        let mapping = entry.take();
        self.changed = true;
        if mapping.has(OWNED) {
            // SAFETY: the entry held the reference, and no longer does.
            self.frames.push(unsafe { Frame::from_address(mapping.address()) });
        }
    }

    /// Puts another mapping in an entry's place, and keeps the frame that it held.
    pub(super) fn replace(&mut self, entry: &Entry, mapping: Mapping) {
        self.take(entry);
        entry.set(mapping);
    }

    fn release(&mut self) {
        if self.changed {
            tlb::shoot_down(self.root, self.range.clone());
            self.changed = false;
        }
        self.frames.clear();
    }
}

impl Drop for Retired {
    fn drop(&mut self) {
        self.release();
    }
}

const _: () = assert!(BATCH * size_of::<Frame>() <= PAGE_SIZE as usize / 8, "it lives on kernel stacks");
