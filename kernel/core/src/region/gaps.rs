//! Where a mapping goes, and moving one.

use core::ops::Range;

use syscalls::Errno;

use super::{Kind, PAGE_SIZE, Protection, Region, Regions};

/// Where a mapping shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At this address if it is free, else anywhere. 0 is no wish.
    Near(u64),
    /// At this address, in place of what is there.
    Fixed(u64),
    /// At this address, which must be free.
    FixedIfFree(u64),
}

impl Regions {
    /// Adds a region of `length` bytes (rounded up to pages) at `place` and returns its range. With [`Place::Fixed`],
    /// what was there is gone from the list, and the caller takes it out of the page tables.
    ///
    /// # Errors
    /// EINVAL: no length, or an address that is not page-aligned. ENOMEM: no gap is large enough, the fixed range is
    /// outside the limits, or no memory. EEXIST: [`Place::FixedIfFree`] and it is not free.
    pub fn map(
        &mut self,
        place: Place,
        length: u64,
        protection: Protection,
        kind: Kind,
    ) -> Result<Range<u64>, Errno> {
        let range = self.choose(place, length)?;
        self.reserve(self.cuts(&range) + 1)?;
        if place == Place::Fixed(range.start) {
            self.cut_out(&range);
        }
        self.put(Region { start: range.start, end: range.end, protection, kind });
        Ok(range)
    }

    /// The range that [`Regions::map`] would use.
    ///
    /// # Errors
    /// As [`Regions::map`], but for memory.
    pub fn choose(&mut self, place: Place, length: u64) -> Result<Range<u64>, Errno> {
        let length = round_up(length)?;
        let (Place::Near(start) | Place::Fixed(start) | Place::FixedIfFree(start)) = place;
        let wanted = start..start.saturating_add(length);
        let valid = self.check(&wanted).is_ok();
        match place {
            Place::Near(_) if valid && self.is_free(&wanted) => Ok(wanted),
            Place::Near(_) => self.find_gap(length),
            _ if !start.is_multiple_of(PAGE_SIZE) => Err(Errno::EINVAL),
            _ if !valid => Err(Errno::ENOMEM),
            Place::FixedIfFree(_) if !self.is_free(&wanted) => Err(Errno::EEXIST),
            _ => Ok(wanted),
        }
    }

    /// The highest free range of `length` bytes below the ceiling.
    fn find_gap(&mut self, length: u64) -> Result<Range<u64>, Errno> {
        let mut end = self.full_from;
        let mut only_full = true;
        for region in &self.list[self.position(end.saturating_sub(1))..] {
            if end.saturating_sub(region.end) >= length {
                break;
            }
            only_full &= region.end >= end;
            end = end.min(region.start);
            if only_full {
                self.full_from = end;
            }
        }
        let start = end.checked_sub(length).filter(|&start| start >= self.limits.start);
        start.map(|start| start..end).ok_or(Errno::ENOMEM)
    }

    /// Where [`Regions::remap`] with these arguments would put the mapping; makes all the room that it needs, so that it
    /// cannot fail until something else changes. The mapping stays where it is if it can, else moves if it may; it does not
    /// grow across the ceiling. Moved to a chosen address, it is not shortened, and does not overlap its old place.
    ///
    /// # Errors
    /// EINVAL: no length, not aligned, or overlapping. EFAULT: `old` is not inside one region. ENOMEM: no room where it is and it
    /// may not move, no gap, or no memory.
    pub fn plan_remap(
        &mut self,
        old: Range<u64>,
        length: u64,
        movable: Movable,
    ) -> Result<Range<u64>, Errno> {
        let length = round_up(length)?;
        self.check(&old)?;
        self.lookup(old.start).filter(|region| old.end <= region.end).ok_or(Errno::EFAULT)?;
        if let Movable::To(start) = movable {
            let new = start..start.saturating_add(length);
            self.check(&new)?;
            if new.start < old.end && old.start < new.end {
                return Err(Errno::EINVAL);
            }
            self.reserve(self.cuts(&old) + self.cuts(&new) + 1)?;
            return Ok(new);
        }
        let new = old.start..old.start.saturating_add(length);
        if new.end <= old.end {
            self.reserve(self.cuts(&(new.end..old.end)))?;
            return Ok(new);
        }
        self.reserve(self.cuts(&old) + 1)?;
        let extension = old.end..new.end;
        let crosses_ceiling = old.end <= self.ceiling && self.ceiling < new.end;
        match movable {
            _ if self.check(&extension).is_ok() && self.is_free(&extension) && !crosses_ceiling => Ok(new),
            Movable::Yes => self.find_gap(length),
            _ => Err(Errno::ENOMEM),
        }
    }

    /// Changes the length of the mapping at `old` to `length` bytes, rounded up to pages, and returns its new range.
    /// The caller then moves the pages that were in both, and takes those of `old` that are in the new range no more
    /// out of the page tables.
    ///
    /// # Errors
    /// As [`Regions::plan_remap`].
    pub fn remap(&mut self, old: Range<u64>, length: u64, movable: Movable) -> Result<Range<u64>, Errno> {
        let new = self.plan_remap(old.clone(), length, movable)?;
        let Some(&region) = self.lookup(old.start) else { return Err(Errno::EFAULT) };
        let (gone, added, first) = match new.start == old.start {
            true => (new.end..old.end, old.end..new.end, old.end),
            false => (old.clone(), new.clone(), old.start),
        };
        if matches!(movable, Movable::To(_)) {
            self.cut_out(&new);
        }
        if !gone.is_empty() {
            self.cut_out(&gone);
        }
        if !added.is_empty() {
            let kind = region.kind.after(first - region.start);
            self.put(Region { start: added.start, end: added.end, kind, ..region });
        }
        Ok(new)
    }
}

/// Whether [`Regions::remap`] may choose another address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movable {
    /// It may (C: `MREMAP_MAYMOVE`).
    Yes,
    /// It stays.
    No,
    /// It goes to this address, in place of what is there (C: `MREMAP_FIXED`).
    To(u64),
}

fn round_up(length: u64) -> Result<u64, Errno> {
    match length {
        0 => Err(Errno::EINVAL),
        _ => length.checked_next_multiple_of(PAGE_SIZE).ok_or(Errno::ENOMEM),
    }
}
