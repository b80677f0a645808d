//! The frames of an arena, as its processes and the kernel see them.

use crate::mm::frames::{Budget, Frame};
use crate::mm::layout::PAGE_SIZE;
use alloc::vec::Vec;
use kcore::sema::{Head, LINE, Memory};
use syscalls::Errno;

/// Memory that is shared with programs.
pub(crate) struct Pages(Vec<Frame>);

const LINES: u64 = PAGE_SIZE / LINE;

const _: () = assert!(size_of::<Head>() as u64 <= LINE && align_of::<Head>() as u64 <= LINE);

impl Pages {
    /// Zeroed pages for `length` bytes. ENOMEM.
    pub(super) fn new(length: u64) -> Result<Self, Errno> {
        let count = length.div_ceil(PAGE_SIZE) as usize;
        let mut frames = Vec::new();
        frames.try_reserve_exact(count).map_err(|_| Errno::ENOMEM)?;
        for _ in 0..count {
            frames.push(Frame::allocate_zeroed(Budget::User)?);
        }
        Ok(Pages(frames))
    }

    pub(super) fn frames(&self) -> &[Frame] {
        &self.0
    }

    /// How many bytes they are.
    pub(super) fn length(&self) -> u64 {
        self.0.len() as u64 * PAGE_SIZE
    }
}

impl Memory for Pages {
    #[inline]
    fn head(&self, line: u32) -> &Head {
        let (page, line) = (u64::from(line) / LINES, u64::from(line) % LINES);
        let at = self.0[page as usize].pointer().wrapping_add((line * LINE) as usize);
        // SAFETY: the head lies in the frame, aligned, for as long as `self` holds it; any bytes make one, and it consists
        // of atomics, since programs write there at the same time.
        unsafe { &*at.cast() }
    }
}
