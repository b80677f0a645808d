//! The memory that calls are let loose on: a window of addresses for each thread, and one page that nobody may change.

use std::sync::OnceLock;

use syscalls::{Errno, number};

use crate::call;

pub(crate) const PAGE: u64 = 4096;
/// Far from where programs and their mappings lie.
const FIRST_WINDOW: u64 = 0x10_0000_0000;
const WINDOW: u64 = 1 << 30;
/// Pages that are mapped at the window's beginning.
const PAGES: u64 = 32;

/// A thread's window.
pub(crate) struct Ground {
    start: u64,
}

impl Ground {
    pub(crate) fn new(thread: u64) -> Self {
        let ground = Ground { start: FIRST_WINDOW + thread * WINDOW };
        ground.repair();
        ground
    }

    /// Makes the window as at first: pages that can be written, with a hole and a page that can only be read.
    pub(crate) fn repair(&self) {
        crate::rules::assert_succeeds(unmap_all(self.start));
        map(self.start, PAGES, 3);
        map(self.start + 9 * PAGE, 1, 1);
        map(self.start + 17 * PAGE, 1, 0);
        // SAFETY: a page of the window.
        unsafe { crate::unmap(self.start + 13 * PAGE, PAGE) };
    }

    /// Whether all of the range is in the window.
    pub(crate) fn has(&self, address: u64, length: u64) -> bool {
        let end = self.start + WINDOW;
        (self.start..end).contains(&address) && length.saturating_add(address) <= end
    }

    /// An address of page `page`.
    pub(crate) fn page(&self, page: u64) -> u64 {
        self.start + page % (PAGES + 4) * PAGE
    }
}

fn unmap_all(start: u64) -> Result<u64, Errno> {
    // SAFETY: the window is its thread's alone.
    Errno::from_return(unsafe { call(number::munmap, [start, WINDOW, 0, 0, 0, 0]) })
}

/// Maps fresh anonymous pages in place of what is there.
fn map(address: u64, pages: u64, protection: u64) {
    const PRIVATE_ANONYMOUS_FIXED: u64 = 0x32;
    let arguments = [address, pages * PAGE, protection, PRIVATE_ANONYMOUS_FIXED, u64::MAX, 0];
    // SAFETY: a part of a window.
    crate::rules::assert_succeeds(Errno::from_return(unsafe { call(number::mmap, arguments) }));
}

/// Times that may be slept for, and others that are refused, on a page that cannot be written: (seconds, nanoseconds).
const TIMES: [[i64; 2]; 8] = [
    [0, 0],
    [0, 1],
    [0, 20_000],
    [0, -1],
    [0, 1_000_000_000],
    [-1, 0],
    [i64::MIN, i64::MAX],
    [i64::MAX, 1_000_000_000],
];

/// The address of one of the times.
pub(crate) fn time(index: u64) -> u64 {
    static PAGE_OF_TIMES: OnceLock<u64> = OnceLock::new();
    let start = *PAGE_OF_TIMES.get_or_init(|| {
        let start = FIRST_WINDOW - PAGE;
        map(start, 1, 3);
        // SAFETY: the page was just mapped, and is large enough.
        unsafe { std::ptr::with_exposed_provenance_mut::<[[i64; 2]; 8]>(start as usize).write(TIMES) };
        // SAFETY: as above.
        unsafe { call(number::mprotect, [start, PAGE, 1, 0, 0, 0]) };
        start
    });
    start + index % TIMES.len() as u64 * 16
}
