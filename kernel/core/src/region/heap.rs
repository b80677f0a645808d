//! The break: the end of the data segment, moved by `brk`.

use core::ops::Range;

use syscalls::Errno;

use super::{Kind, PAGE_SIZE, Protection, Region, Regions};

impl Regions {
    /// Places the heap, empty, at `start`. Done once, by the loader.
    pub fn place_heap(&mut self, start: u64) {
        self.heap = start..start;
    }

    /// The break: the first address after the heap.
    #[must_use]
    pub fn heap_end(&self) -> u64 {
        self.heap.end
    }

    /// Moves the break to `end`. Returns the pages that the heap gave up, often none, for the caller to take out of
    /// the page tables.
    ///
    /// # Errors
    /// EINVAL: `end` lies before the heap. ENOMEM: other regions or the limits are in the way, or no memory. The break
    /// is where it was.
    pub fn move_heap_end(&mut self, end: u64) -> Result<Range<u64>, Errno> {
        if end < self.heap.start {
            return Err(Errno::EINVAL);
        }
        let new = end.checked_next_multiple_of(PAGE_SIZE).ok_or(Errno::ENOMEM)?;
        let old = self.heap.end.next_multiple_of(PAGE_SIZE);
        if new > old {
            self.grow_heap(old..new)?;
        } else if new < old {
            self.unmap(new..old)?;
        }
        self.heap.end = end;
        Ok(new..old.max(new))
    }

    fn grow_heap(&mut self, pages: Range<u64>) -> Result<(), Errno> {
        let protection = Protection::READ | Protection::WRITE;
        let region = Region { start: pages.start, end: pages.end, protection, kind: Kind::Anonymous };
        self.insert(region).map_err(|_| Errno::ENOMEM)
    }
}
