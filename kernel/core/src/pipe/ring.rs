//! The bytes of a pipe: each at its position in a ring of pages, which exist only while they hold something.
//!
//! There is one place more than a full pipe has pages, for what is in a pipe may begin and end in the middle of one: so
//! two pieces of it never share a page, and one that was read to its end holds nothing.

use super::CAPACITY;
use core::ops::Range;
use syscalls::Errno;

/// Bytes in a page.
pub const PAGE_SIZE: usize = crate::region::PAGE_SIZE as usize;

const PAGES: usize = CAPACITY as usize / PAGE_SIZE + 1;

/// A page of bytes that nobody else has.
pub trait Buffer: Sized {
    /// One with whatever bytes. ENOMEM.
    fn new() -> Result<Self, Errno>;

    /// Its bytes.
    fn bytes(&self) -> &[u8; PAGE_SIZE];

    /// Its bytes, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE];
}

/// The bytes that were written and not yet read.
#[derive(Debug)]
pub struct Ring<P>([Option<P>; PAGES]);

impl<P: Buffer> Ring<P> {
    /// No bytes, and no pages.
    #[must_use]
    pub const fn new() -> Self {
        Ring([const { None }; PAGES])
    }

    /// Puts `bytes`, at most a page of them, at the positions from `start` on, for which the pipe's
    /// [`Flow`](super::Flow) has room. ENOMEM, and no byte has changed.
    pub fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Errno> {
        let end = start + bytes.len() as u64;
        for (page, _) in pieces(start..end) {
            if self.0[page].is_none() {
                self.0[page] = Some(P::new()?);
            }
        }
        let mut rest = bytes;
        for (page, place) in pieces(start..end) {
            let (piece, behind) = rest.split_at(place.len());
            if let Some(page) = &mut self.0[page] {
                page.bytes_mut()[place].copy_from_slice(piece);
            }
            rest = behind;
        }
        Ok(())
    }

    /// Moves the bytes at `positions`, at most a page of them, to `to`. Nothing before them is of use any more.
    pub fn take(&mut self, positions: Range<u64>, to: &mut P) {
        let mut rest = &mut to.bytes_mut()[..];
        for (page, place) in pieces(positions) {
            let (piece, behind) = rest.split_at_mut(place.len());
            let is_used_up = place.end == PAGE_SIZE;
            if let Some(page) = &self.0[page] {
                piece.copy_from_slice(&page.bytes()[place]);
            }
            if is_used_up {
                self.0[page] = None;
            }
            rest = behind;
        }
    }
}

impl<P: Buffer> Default for Ring<P> {
    fn default() -> Self {
        Ring::new()
    }
}

#[cfg(test)]
impl<P> Ring<P> {
    /// How many pages there are.
    pub(super) fn pages(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

/// The pages that positions lie in, and where in each.
fn pieces(mut positions: Range<u64>) -> impl Iterator<Item = (usize, Range<usize>)> {
    core::iter::from_fn(move || {
        let offset = positions.start as usize % PAGE_SIZE;
        let length = (PAGE_SIZE - offset).min((positions.end - positions.start) as usize);
        let page = positions.start as usize / PAGE_SIZE % PAGES;
        positions.start += length as u64;
        (length > 0).then_some((page, offset..offset + length))
    })
}
