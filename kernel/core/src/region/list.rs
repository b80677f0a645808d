//! The sorted list of regions and the changes to it.

use alloc::vec::Vec;
use core::ops::Range;

use syscalls::Errno;

use super::{MAX_REGIONS, PAGE_SIZE, Protection, Region};

/// The regions of one address space. See the module's theory.
#[derive(Debug, Clone)]
pub struct Regions {
    /// From the highest to the lowest.
    pub(super) list: Vec<Region>,
    /// Where mappings may be.
    pub(super) limits: Range<u64>,
    /// Mappings without an address of their own are placed below.
    pub(super) ceiling: u64,
    /// Every page from here to `ceiling` is in a region: the search for a gap starts here.
    pub(super) full_from: u64,
    /// The heap: from its fixed start to the break. Empty and at 0 until it is placed.
    pub(super) heap: Range<u64>,
}

impl Regions {
    /// No regions. Mappings may lie anywhere in `limits`, and those without an address of their own go below
    /// `ceiling`. All three addresses are page-aligned.
    #[must_use]
    pub fn new(limits: Range<u64>, ceiling: u64) -> Regions {
        Regions { list: Vec::new(), limits, ceiling, full_from: ceiling, heap: 0..0 }
    }

    /// The same regions for another address space.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn try_clone(&self) -> Result<Regions, Errno> {
        let mut list = Vec::new();
        list.try_reserve_exact(self.list.len()).map_err(|_| Errno::ENOMEM)?;
        list.extend_from_slice(&self.list);
        Ok(Regions { list, limits: self.limits.clone(), heap: self.heap.clone(), ..*self })
    }

    /// The region that contains `address`.
    #[must_use]
    #[inline]
    pub fn lookup(&self, address: u64) -> Option<&Region> {
        self.list.get(self.position(address)).filter(|region| address < region.end)
    }

    /// All regions, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Region> {
        self.list.iter().rev()
    }

    /// The regions that have pages in `range`, in ascending order.
    pub fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = &Region> {
        let first = self.list.partition_point(|region| region.start >= range.end);
        let end = self.list.partition_point(|region| region.end > range.start);
        self.list.get(first..end).unwrap_or(&[]).iter().rev()
    }

    /// The addresses around `range` up to the next regions on both sides; all addresses on a side where there is none.
    /// No region is in `range`.
    #[must_use]
    pub fn gap_around(&self, range: Range<u64>) -> Range<u64> {
        let below = self.position(range.start);
        let start = self.list.get(below).map_or(0, |region| region.end);
        let above = below.checked_sub(1).and_then(|index| self.list.get(index));
        start..above.map_or(u64::MAX, |region| region.start)
    }

    /// Adds a region, whose range is inside the limits and free.
    ///
    /// # Errors
    /// ENOMEM: no memory, or too many regions. EEXIST: the range is not free. EINVAL: not page-aligned, empty, or
    /// outside the limits.
    pub fn insert(&mut self, region: Region) -> Result<(), Errno> {
        self.check(&region.range())?;
        if !self.is_free(&region.range()) {
            return Err(Errno::EEXIST);
        }
        self.reserve(1)?;
        self.put(region);
        Ok(())
    }

    /// Puts a region where nothing is; room is reserved.
    pub(super) fn put(&mut self, region: Region) {
        let index = self.position(region.start);
        self.list.insert(index, region);
        self.join(index..index + 1);
    }

    /// Removes all pages of `range`; that some or all are in no region is no error.
    ///
    /// # Errors
    /// EINVAL: not page-aligned, empty, or beyond the limits. ENOMEM: a region would be cut in two, and there is no room
    /// for both.
    pub fn unmap(&mut self, range: Range<u64>) -> Result<(), Errno> {
        if !is_whole_pages(&range) || range.end > self.limits.end {
            return Err(Errno::EINVAL);
        }
        self.reserve(self.cuts(&range))?;
        self.cut_out(&range);
        Ok(())
    }

    /// Removes `range`. Room for its cuts is reserved.
    pub(super) fn cut_out(&mut self, range: &Range<u64>) {
        let between = self.cut(range);
        self.list.drain(between);
        self.full_from = self.full_from.max(range.end.min(self.ceiling));
    }

    /// Gives all pages of `range` another protection.
    ///
    /// # Errors
    /// EINVAL: not page-aligned, or empty. ENOMEM: some page is in no region, or no room for the pieces.
    pub fn protect(&mut self, range: Range<u64>, protection: Protection) -> Result<(), Errno> {
        if !is_whole_pages(&range) {
            return Err(Errno::EINVAL);
        }
        if !self.is_covered(&range) {
            return Err(Errno::ENOMEM);
        }
        self.reserve(self.cuts(&range))?;
        let between = self.cut(&range);
        self.list[between.clone()].iter_mut().for_each(|region| region.protection = protection);
        self.join(between);
        Ok(())
    }

    /// Removes all regions, and the heap.
    pub fn clear(&mut self) {
        *self = Regions::new(self.limits.clone(), self.ceiling);
    }

    /// The index of the region that contains `address`, or else of the next one below it.
    #[inline]
    pub(super) fn position(&self, address: u64) -> usize {
        self.list.partition_point(|region| region.start > address)
    }

    /// Refuses what is not a non-empty range of whole pages inside the limits.
    pub(super) fn check(&self, range: &Range<u64>) -> Result<(), Errno> {
        let aligned = (range.start | range.end).is_multiple_of(super::PAGE_SIZE);
        let inside =
            self.limits.start <= range.start && range.start < range.end && range.end <= self.limits.end;
        if aligned && inside { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Whether no page of `range` is in a region.
    pub(super) fn is_free(&self, range: &Range<u64>) -> bool {
        self.list.get(self.position(range.end - 1)).is_none_or(|region| region.end <= range.start)
    }

    /// Whether every page of `range` is in a region.
    #[must_use]
    pub fn is_covered(&self, range: &Range<u64>) -> bool {
        let mut covered_from = range.end;
        for region in &self.list[self.position(range.end - 1)..] {
            if covered_from <= range.start || region.end < covered_from {
                break;
            }
            covered_from = region.start;
        }
        covered_from <= range.start
    }

    /// How many regions must be cut to make `range` one of its own: none, one or two more come of it.
    pub(super) fn cuts(&self, range: &Range<u64>) -> usize {
        let inside = |address: u64| self.lookup(address).is_some_and(|region| region.start < address);
        usize::from(inside(range.start)) + usize::from(inside(range.end))
    }

    /// Makes room for `more` regions.
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), Errno> {
        if self.list.len() + more > MAX_REGIONS {
            return Err(Errno::ENOMEM);
        }
        self.list.try_reserve(more).map_err(|_| Errno::ENOMEM)
    }

    /// Cuts at both ends of `range`, and returns the indices of the regions between.
    fn cut(&mut self, range: &Range<u64>) -> Range<usize> {
        self.cut_at(range.end);
        self.cut_at(range.start);
        self.position(range.end - 1)..self.list.partition_point(|region| region.start >= range.start)
    }

    /// Cuts the region around `address`, if it does not start there.
    fn cut_at(&mut self, address: u64) {
        let index = self.position(address);
        let Some(&region) = self.list.get(index) else { return };
        if region.start < address && address < region.end {
            let (low, high) = region.split(address);
            self.list[index] = low;
            self.list.insert(index, high);
        }
    }

    /// Joins what is alike among the regions at `indices` and their neighbours on both sides.
    fn join(&mut self, indices: Range<usize>) {
        let (first, end) = (indices.start.saturating_sub(1), (indices.end + 1).min(self.list.len()));
        let mut kept = first;
        for index in first + 1..end {
            match self.list[index].joined(self.list[kept]) {
                Some(whole) => self.list[kept] = whole,
                None => {
                    kept += 1;
                    self.list[kept] = self.list[index];
                }
            }
        }
        self.list.drain((kept + 1).min(end)..end);
    }
}

/// Whether a range is page-aligned and not empty.
fn is_whole_pages(range: &Range<u64>) -> bool {
    (range.start | range.end).is_multiple_of(PAGE_SIZE) && !range.is_empty()
}
