//! The bytes of a pipe: each at its position in a ring of pages, which exist only while they hold something.
//!
//! There is one place more than a full pipe has pages, for what is in a pipe may begin and end in the middle of one: so
//! two pieces of it never share a page, and one that was read to its end holds nothing.

use super::page::{Page, SIZE};
use core::ops::Range;
use kcore::pipe::CAPACITY;
use syscalls::Errno;

const PAGES: usize = CAPACITY as usize / SIZE + 1;

/// The bytes that were written and not yet read.
pub(super) struct Ring([Option<Page>; PAGES]);

impl Ring {
    pub(super) const fn new() -> Self {
        Ring([const { None }; PAGES])
    }

    /// Puts `bytes`, at most a page of them, at the positions from `start` on. ENOMEM, and nothing has changed.
    pub(super) fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Errno> {
        let end = start + bytes.len() as u64;
        for (page, _) in pieces(start..end) {
            if self.0[page].is_none() {
                self.0[page] = Some(Page::new()?);
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
    pub(super) fn take(&mut self, positions: Range<u64>, to: &mut Page) {
        let mut rest = &mut to.bytes_mut()[..];
        for (page, place) in pieces(positions) {
            let (piece, behind) = rest.split_at_mut(place.len());
            let is_used_up = place.end == SIZE;
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

/// The pages that positions lie in, and where in each.
fn pieces(mut positions: Range<u64>) -> impl Iterator<Item = (usize, Range<usize>)> {
    core::iter::from_fn(move || {
        let offset = positions.start as usize % SIZE;
        let length = (SIZE - offset).min((positions.end - positions.start) as usize);
        let page = positions.start as usize / SIZE % PAGES;
        positions.start += length as u64;
        (length > 0).then_some((page, offset..offset + length))
    })
}
