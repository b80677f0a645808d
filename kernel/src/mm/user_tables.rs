//! The page tables of one address space's lower half.
//!
//! **Invariant.** Every table below the root covers some page of a region, and every leaf is a page of a region. The
//! owner keeps it by telling [`UserTables::clear`] the room without regions, where tables are freed too. So the regions
//! lead to everything, and taking an address space apart never scans empty tables.
//!
//! **Windows.** What goes through many pages lets interrupts in every few: the owner's lock is held meanwhile, which no
//! interrupt handler takes.

use core::ops::{Range, RangeInclusive};

use crate::cpu;
use syscalls::Errno;
use x86_64::structures::paging::PageTableFlags as Flags;

use super::frames::{Budget, Frame};
use super::kernel_space;
use super::layout::PAGE_SIZE;
use super::retired::Retired;
use super::table::{Entry, Mapping, TOP, Table, index, span, table};

/// The room where nothing is: [`UserTables::clear`] frees no table.
pub(super) const NO_ROOM: Range<u64> = 0..0;

/// So many pages are visited between two windows.
const PAGES_AT_ONCE: u64 = 128;

/// The tables. The owner's lock guards them: methods that change something take `&mut self`.
pub(super) struct UserTables {
    root: Frame,
    /// Pages mapped.
    pages: u64,
}

impl UserTables {
    /// Tables that map nothing but the kernel's half.
    ///
    /// # Errors
    /// ENOMEM.
    pub(super) fn new() -> Result<UserTables, Errno> {
        let root = Frame::allocate_zeroed(Budget::User)?;
        let tables = UserTables { root, pages: 0 };
        kernel_space::share_with(tables.root());
        Ok(tables)
    }

    /// The physical address of the top table.
    pub(super) fn root_address(&self) -> u64 {
        self.root.address()
    }

    /// How many pages are mapped.
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    /// The entry of a page; tables that are missing on the way are made. The page is in a region, or the caller undoes
    /// this by [`UserTables::clear`].
    ///
    /// # Errors
    /// ENOMEM.
    #[inline]
    pub(super) fn entry(&self, page: u64) -> Result<&Entry, Errno> {
        let mut table = self.root();
        for level in (2..=TOP).rev() {
            // SAFETY: user tables have no large pages; the borrow of `self` keeps tables from being freed, and the
            // owner's lock others from making them.
            table = unsafe { table[index(page, level)].table_or_new(Flags::USER_ACCESSIBLE, Budget::User)? };
        }
        Ok(&table[index(page, 1)])
    }

    /// Fills the entry of a page that is in a region and not mapped with what `make` gives.
    ///
    /// # Errors
    /// That of `make`; ENOMEM: a table is missing, and there is no frame for one.
    #[inline]
    pub(super) fn fill<E: From<Errno>>(
        &mut self,
        page: u64,
        make: impl FnOnce() -> Result<Mapping, E>,
    ) -> Result<(), E> {
        let entry = self.entry(page)?;
        debug_assert!(entry.get().is_empty());
        entry.set(make()?);
        self.count_page();
        Ok(())
    }

    /// Counts a page whose entry was filled.
    #[inline]
    pub(super) fn count_page(&mut self) {
        self.pages += 1;
    }

    /// Calls `visit` with every page of `range` that is mapped, and its entry. The range is of whole pages.
    pub(super) fn for_each(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &Entry) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut start = range.start;
        while start < range.end {
            let (level, table) = self.lowest_table(start);
            // A table of level 1 lists its pages; above, the entry that ends the way is empty, and all it covers.
            let step = if level == 1 { PAGES_AT_ONCE * PAGE_SIZE } else { span(level) };
            let end = range.end.min((start / step + 1) * step);
            if level == 1 {
                for (number, entry) in table[slots(start..end, 1)].iter().enumerate() {
                    if !entry.get().is_empty() {
                        visit(start + number as u64 * PAGE_SIZE, entry)?;
                    }
                }
                cpu::window();
            }
            start = end;
        }
        Ok(())
    }

    /// The lowest table on the way to `page`, and its level.
    fn lowest_table(&self, page: u64) -> (u32, &Table) {
        let mut lowest = self.root();
        for level in (2..=TOP).rev() {
            let mapping = lowest[index(page, level)].get();
            if mapping.is_empty() {
                return (level, lowest);
            }
            // SAFETY: user tables have no large pages; the borrow of `self` keeps tables from being freed.
            lowest = unsafe { table(mapping.address()) };
        }
        (1, lowest)
    }

    /// Unmaps every page of `range`, and frees every table whose pages are all in `room`: the addresses around the range
    /// that no region uses any more. `room` may be empty.
    pub(super) fn clear(&mut self, range: Range<u64>, room: Range<u64>) {
        let mut start = range.start;
        loop {
            let (level, _) = self.lowest_table(start);
            let end = (start / span(level.max(2)) + 1) * span(level.max(2));
            if end >= range.end {
                break;
            }
            if level == 1 {
                // What is above the piece is in use still, and so are the tables that serve it.
                self.clear_piece(start..end, room.start..end.min(room.end));
                cpu::window();
            }
            start = end;
        }
        // Tables that the pieces had to leave are empty now.
        let rest = if room.is_empty() { start..range.end } else { range };
        self.clear_piece(rest, room);
    }

    fn clear_piece(&mut self, range: Range<u64>, room: Range<u64>) {
        let mut retired = Retired::new(self.root_address(), range.clone());
        if !range.is_empty() {
            self.pages -= Clearing { room }.clear(self.root(), TOP, range, &mut retired);
        }
    }

    fn root(&self) -> &Table {
        // SAFETY: the root is a table for as long as `self` lives.
        unsafe { table(self.root.address()) }
    }
}

/// The entries of a table of `level` that a range touches, which lies in what the table maps.
fn slots(range: Range<u64>, level: u32) -> RangeInclusive<usize> {
    index(range.start, level)..=index(range.end - 1, level)
}

struct Clearing {
    room: Range<u64>,
}

impl Clearing {
    /// Clears what `range` covers of one table, and returns how many pages it unmapped.
    fn clear(&self, entries: &Table, level: u32, range: Range<u64>, retired: &mut Retired) -> u64 {
        let mut pages = 0;
        let mut base = range.start / span(level) * span(level);
        for entry in &entries[slots(range.clone(), level)] {
            if !entry.get().is_empty() {
                pages += match level {
                    1 => {
                        retired.take(entry);
                        1
                    }
                    _ => self.clear_below(entry, level, base, &range, retired),
                };
            }
            base += span(level);
        }
        pages
    }

    /// Clears what `range` covers of the table behind an entry that maps the addresses from `base` on.
    fn clear_below(
        &self,
        entry: &Entry,
        level: u32,
        base: u64,
        range: &Range<u64>,
        retired: &mut Retired,
    ) -> u64 {
        let end = base + span(level);
        // SAFETY: user tables have no large pages, and this one is freed by nobody else.
        let below = unsafe { table(entry.get().address()) };
        let pages = self.clear(below, level - 1, base.max(range.start)..end.min(range.end), retired);
        if self.room.start <= base && end <= self.room.end {
            retired.take(entry);
        }
        pages
    }
}
