//! The regions of an address space: which pages a program may touch, how, and where their first contents come from.
//!
//! **Problem.** mmap, munmap, mprotect, mremap and brk cut and join ranges of pages; a call does all of what it was
//! asked or nothing, also where memory for the list runs out.
//!
//! **Invariants.** Regions are page-aligned, not empty, inside the limits, and do not overlap; two that touch differ
//! (otherwise they are one). They are kept from the highest address to the lowest: new mappings are placed from the
//! top down, so the newest goes to the end of the list and nothing has to move for it, however many there are.
//!
//! **All or nothing.** A change first asks for all the room it may need, which is the only step that can fail, then
//! cuts at both ends of its range, changes what lies between, and joins what has become alike.
//!
//! This module knows nothing of page tables: its owner applies the returned ranges to them.

mod gaps;
mod heap;
mod list;

pub use gaps::{Movable, Place};
pub use list::Regions;

use core::ops::{BitOr, Range};

/// Bytes in a page.
pub const PAGE_SIZE: u64 = crate::memory_map::PAGE_SIZE;

/// The most regions an address space may have, as on Linux.
pub const MAX_REGIONS: usize = 65_530;

/// How a page is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Which accesses a region permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Protection(u8);

impl Protection {
    /// No access.
    pub const NONE: Protection = Protection(0);
    /// Loads (C: `PROT_READ`).
    pub const READ: Protection = Protection(1);
    /// Stores, and with them loads (C: `PROT_WRITE`).
    pub const WRITE: Protection = Protection(2);
    /// Instruction fetches, and with them loads (C: `PROT_EXEC`).
    pub const EXECUTE: Protection = Protection(4);

    /// The protection that C's `PROT_` bits name; other bits are refused.
    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Protection> {
        (bits <= 7).then_some(Protection(bits as u8))
    }

    /// Whether `access` is permitted.
    #[must_use]
    #[inline]
    pub fn permits(self, access: Access) -> bool {
        match access {
            Access::Read => self.0 != 0,
            Access::Write => self.0 & Self::WRITE.0 != 0,
            Access::Execute => self.0 & Self::EXECUTE.0 != 0,
        }
    }
}

impl BitOr for Protection {
    type Output = Protection;

    fn bitor(self, other: Protection) -> Protection {
        Protection(self.0 | other.0)
    }
}

/// Where the first contents of a region's pages come from.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Zeroes; each process has its own pages.
    Anonymous,
    /// Zeroes; a process and those forked from it have the same pages.
    Shared,
    /// The bytes of a file from the region's first byte to the file's end, then zeroes to the end of that page. Pages
    /// beyond have no contents. Each process has its own pages.
    File(&'static [u8]),
}

impl Kind {
    /// The kind of what follows after `offset` bytes.
    fn after(self, offset: u64) -> Kind {
        match self {
            Kind::File(bytes) => Kind::File(bytes.get(offset as usize..).unwrap_or(&[])),
            other => other,
        }
    }
}

/// Two file kinds are equal if they are the same bytes of the same file, not if the bytes look alike. Past the end of
/// a file all are equal.
impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Anonymous, Kind::Anonymous) | (Kind::Shared, Kind::Shared) => true,
            (Kind::File(a), Kind::File(b)) => {
                a.len() == b.len() && (a.is_empty() || a.as_ptr() == b.as_ptr())
            }
            _ => false,
        }
    }
}

/// A range of pages with one protection and one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// The first address.
    pub start: u64,
    /// The address after the last.
    pub end: u64,
    /// What the program may do there.
    pub protection: Protection,
    /// Where first contents come from.
    pub kind: Kind,
}

impl Region {
    /// The addresses.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// The addresses that are in `range` too; empty if there are none.
    #[must_use]
    pub fn part_in(&self, range: &Range<u64>) -> Range<u64> {
        self.start.max(range.start)..self.end.min(range.end)
    }

    /// The part before `address` and the part from it on; it lies inside.
    fn split(self, address: u64) -> (Region, Region) {
        let kind = self.kind.after(address - self.start);
        (Region { end: address, ..self }, Region { start: address, kind, ..self })
    }

    /// This region and `next` as one, if `next` continues it in every respect.
    fn joined(self, next: Region) -> Option<Region> {
        let continues = self.end == next.start
            && self.protection == next.protection
            && self.kind.after(self.end - self.start) == next.kind;
        continues.then_some(Region { end: next.end, ..self })
    }
}
