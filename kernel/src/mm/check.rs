//! The kernel checks its own books: what the theory statement of address spaces promises, by walking everything. Debug
//! builds do so when a process ends.

use core::ops::Range;

use kcore::region::{Access, Kind};
use x86_64::structures::paging::PageTableFlags as Flags;

use super::address_space::{AddressSpace, Inner};
use super::layout::PAGE_SIZE;
use super::table::{ENTRIES, Mapping, TOP, Table, span, table};

impl AddressSpace {
    /// Asserts that every table covers pages of a region, every mapped page is in a region and has no more permissions
    /// than that gives, and pages are counted right.
    pub(crate) fn check(&self) {
        let inner = self.inner.lock();
        // SAFETY: the lock keeps the table from being freed.
        let root = unsafe { table(self.root) };
        let pages = check_table(&inner, root, TOP, 0);
        assert_eq!(pages, inner.tables.pages(), "mapped pages and their count");
    }
}

/// Checks the user part of a table whose first entry maps `base`, and returns how many pages it maps.
fn check_table(inner: &Inner, entries: &Table, level: u32, base: u64) -> u64 {
    let user_entries = if level == TOP { ENTRIES / 2 } else { ENTRIES };
    let mut pages = 0;
    for (index, entry) in entries[..user_entries].iter().enumerate() {
        let mapping = entry.get();
        let start = base + index as u64 * span(level);
        if mapping.is_empty() {
            continue;
        }
        if level == 1 {
            check_page(inner, start, mapping);
            pages += 1;
        } else {
            check_cover(inner, start..start + span(level));
            // SAFETY: user tables have no large pages, and the lock keeps the table from being freed.
            pages += check_table(inner, unsafe { table(mapping.address()) }, level - 1, start);
        }
    }
    pages
}

fn check_cover(inner: &Inner, range: Range<u64>) {
    assert!(inner.regions.overlapping(&range).next().is_some(), "a table at {range:x?} without a region");
}

fn check_page(inner: &Inner, page: u64, mapping: Mapping) {
    let region = inner.regions.lookup(page + PAGE_SIZE - 1);
    let Some(region) = region else { panic!("page {page:#x} is mapped without a region") };
    let may = |access| region.protection.permits(access);
    assert!(may(Access::Read) || !mapping.has(Flags::PRESENT), "page {page:#x} is readable");
    assert!(may(Access::Execute) || mapping.has(Flags::NO_EXECUTE), "page {page:#x} is executable");
    if mapping.has(Flags::WRITABLE) {
        // SAFETY: the mapping is in an entry, and the lock keeps it there.
        let frame = unsafe { mapping.frame() }.expect("a writable page is the program's own");
        let is_seen_by_others = frame.is_shared() && !matches!(region.kind, Kind::Shared);
        assert!(may(Access::Write) && !is_seen_by_others, "page {page:#x} is writable");
    }
}
