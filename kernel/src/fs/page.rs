//! A frame as a buffer: a kernel stack has no room for one.

use crate::mm::frames::{Budget, Frame};
use crate::mm::layout::PAGE_SIZE;
use syscalls::Errno;

/// Bytes in a page.
pub(super) const SIZE: usize = PAGE_SIZE as usize;

/// A page of bytes that nobody else has. At first they are whatever they were.
pub(super) struct Page(Frame);

impl Page {
    /// ENOMEM.
    pub(super) fn new() -> Result<Self, Errno> {
        Frame::allocate(Budget::User).map(Page)
    }

    pub(super) fn bytes(&self) -> &[u8; SIZE] {
        // SAFETY: the frame is this value's alone, and the direct map shows it for as long as it is.
        unsafe { &*self.0.pointer().cast() }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8; SIZE] {
        // SAFETY: as above.
        unsafe { &mut *self.0.pointer().cast() }
    }
}
