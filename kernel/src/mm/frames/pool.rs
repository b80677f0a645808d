//! The list of free frames.

use core::num::NonZeroU32;
use core::ops::Range;

use super::super::layout::{self, PAGE_SIZE};
use super::Usage;

/// The head of a run of free frames, kept in the first of them.
#[repr(C)]
struct Run {
    /// The first frame of the next run; 0 ends the list.
    next: u32,
    /// How many frames the run has.
    frames: u32,
}

/// The free frames.
pub(super) struct Pool {
    /// The first frame of the first run; 0 if no frame is free.
    head: u32,
    pub(super) usage: Usage,
    /// What [`super::Budget::User`] leaves.
    pub(super) reserve: u64,
}

impl Pool {
    /// No frames yet.
    pub(super) const fn new() -> Pool {
        Pool { head: 0, usage: Usage { ram: 0, total: 0, free: 0 }, reserve: 0 }
    }

    /// Adds a piece of memory as one run.
    ///
    /// # Safety
    /// The piece is mapped RAM that nothing uses; frame 0 is not in it.
    pub(super) unsafe fn add(&mut self, piece: Range<u64>) {
        let frames = (piece.end - piece.start) / PAGE_SIZE;
        if frames == 0 {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.push((piece.start / PAGE_SIZE) as u32, frames as u32) };
        self.usage.total += frames;
    }

    /// Puts a run first on the list.
    ///
    /// # Safety
    /// As for [`Pool::add`].
    pub(super) unsafe fn push(&mut self, first: u32, frames: u32) {
        // SAFETY: the frame is mapped and free, so the list owns its bytes.
        unsafe { run(first).write(Run { next: self.head, frames }) };
        self.head = first;
        self.usage.free += u64::from(frames);
    }

    /// Takes the last frame of the first run, if `keep` frames remain.
    pub(super) fn pop(&mut self, keep: u64) -> Option<NonZeroU32> {
        if self.usage.free <= keep {
            return None;
        }
        // SAFETY: a frame on the list is free and holds its run; the pool's lock makes this the only access.
        let run = unsafe { &mut *run(self.head) };
        run.frames -= 1;
        let frame = self.head + run.frames;
        if run.frames == 0 {
            self.head = run.next;
        }
        self.usage.free -= 1;
        NonZeroU32::new(frame)
    }

    /// Counts the free frames by walking the list.
    pub(super) fn count(&self) -> u64 {
        let (mut next, mut free) = (self.head, 0);
        while next != 0 {
            // SAFETY: a frame on the list is free and holds its run; the pool's lock makes this the only access.
            let run = unsafe { &*run(next) };
            free += u64::from(run.frames);
            next = run.next;
        }
        free
    }
}

fn run(frame: u32) -> *mut Run {
    layout::direct(u64::from(frame) * PAGE_SIZE)
}
