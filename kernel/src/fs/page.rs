//! A frame as a buffer: a kernel stack has no room for one.

use crate::mm::frames::{Budget, Frame};
use kcore::pipe::{Buffer, PAGE_SIZE};
use syscalls::Errno;

/// A page of bytes that nobody else has. At first they are whatever they were.
pub(super) struct Page(Frame);

impl Buffer for Page {
    fn new() -> Result<Self, Errno> {
        Frame::allocate(Budget::User).map(Page)
    }

    fn bytes(&self) -> &[u8; PAGE_SIZE] {
        // SAFETY: the frame is this value's alone, and the direct map shows it for as long as it is.
        unsafe { &*self.0.pointer().cast() }
    }

    fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        // SAFETY: as above.
        unsafe { &mut *self.0.pointer().cast() }
    }
}
