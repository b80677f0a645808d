//! Programs: from the bytes of an ELF file to a plan of what is to be mapped where.
//!
//! [`plan`] only reads; the kernel maps what the plan says. Every number in the file is an adversary's: each is
//! checked before it is used, sums do not wrap, and what is not understood is refused. A plan that is handed out
//! keeps these promises, whatever the file:
//!
//! - segments are page-aligned, not empty, ascending, disjoint, and inside the limits given;
//! - no segment is both writable and executable (there is no such [`Protection`]);
//! - the bytes taken from the file are in the file, and fit in their segment;
//! - the entry is in an executable segment.
//!
//! Taken are static programs for x86-64, at fixed addresses or position-independent. Refused with ENOEXEC, besides
//! malformed files: programs that want an interpreter (dynamic linking), segments that share a page, and segments
//! that are to be writable and executable. A wish for an executable stack is not heard.

mod header;
mod plan;
#[cfg(test)]
mod tests;

pub use header::HEADER_SIZE;
pub use plan::plan;

use alloc::vec::Vec;
use core::ops::Range;

/// The most segments a program may have; linkers make two to six.
pub const MAX_SEGMENTS: usize = 16;

/// What a program may do in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// Nothing.
    #[default]
    None,
    /// Read.
    Read,
    /// Read and write.
    ReadWrite,
    /// Read and execute.
    ReadExecute,
}

/// Pages to be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// The first address.
    pub start: u64,
    /// The address after the last.
    pub end: u64,
    /// Where in the file the byte at `start` is.
    pub file_offset: u64,
    /// How many bytes come from the file; all others are zero.
    pub file_bytes: u64,
    /// What the program may do there.
    pub protection: Protection,
}

impl Segment {
    /// Where the file's bytes are; the range is in the file that was planned.
    #[must_use]
    pub const fn file_range(&self) -> Range<usize> {
        self.file_offset as usize..(self.file_offset + self.file_bytes) as usize
    }

    /// The end of the last page that has bytes from the file; from there to `end` all is zero.
    #[must_use]
    pub const fn file_end(&self) -> u64 {
        self.start + self.file_bytes.next_multiple_of(PAGE)
    }
}

/// Bytes in a page.
const PAGE: u64 = crate::memory_map::PAGE_SIZE;

/// How a program is to be laid out in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What to map, in ascending order.
    pub segments: Vec<Segment>,
    /// Where execution begins (AT_ENTRY).
    pub entry: u64,
    /// Where the program finds its own program headers (AT_PHDR); 0 where no segment holds them.
    pub headers: u64,
    /// How many there are (AT_PHNUM), of [`HEADER_SIZE`] bytes each (AT_PHENT).
    pub header_count: u64,
    /// What was added to all addresses of the file: 0 for a program at fixed addresses.
    pub bias: u64,
    /// Where the heap begins: the end of the last segment.
    pub initial_break: u64,
}
