//! Anonymous pages of a test's own.

use userlib::Errno;

use crate::call;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use syscalls::number;

/// Bytes in a page.
pub const PAGE: u64 = 4096;

/// A private anonymous mapping, unmapped when dropped. It is reached by address only, since its pages come and go.
pub struct Pages {
    start: u64,
    count: u64,
}

/// Where the next mapping goes: each has its place for ever, far from where the kernel puts others, so that no other
/// thread's memory ever appears in a hole that a test makes.
static NEXT: AtomicU64 = AtomicU64::new(0x2000_0000_0000);

impl Pages {
    /// `count` fresh pages that may be read and written.
    ///
    /// # Panics
    /// Where there is no memory.
    #[must_use]
    pub fn new(count: u64) -> Self {
        let start = NEXT.fetch_add((count + 16) * PAGE, Ordering::Relaxed);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: nothing else is ever mapped there.
        let got = unsafe {
            call(number::mmap, &[start, count * PAGE, protection as u64, flags as u64, u64::MAX, 0])
        };
        assert_eq!(got, Ok(start), "mmap");
        Pages { start, count }
    }

    /// The address of page `index`; the end, where that is the count.
    #[must_use]
    pub fn page(&self, index: u64) -> u64 {
        assert!(index <= self.count);
        self.start + index * PAGE
    }

    /// One byte, read as the CPU reads it.
    #[must_use]
    pub fn read(&self, offset: u64) -> u8 {
        assert!(offset < self.count * PAGE);
        // SAFETY: within the mapping; a test that took the page away dies here, which it is told by its name.
        unsafe { (self.start as *const u8).add(offset as usize).read_volatile() }
    }

    /// Writes one byte as the CPU writes it.
    pub fn write(&self, offset: u64, value: u8) {
        assert!(offset < self.count * PAGE);
        // SAFETY: as above; nobody else knows of the mapping.
        unsafe { (self.start as *mut u8).add(offset as usize).write_volatile(value) }
    }

    /// Writes the same byte all over.
    pub fn fill(&self, value: u8) {
        (0..self.count * PAGE).for_each(|offset| self.write(offset, value));
    }

    /// `mprotect` of `count` pages from page `first`.
    pub fn protect(&self, first: u64, count: u64, protection: i32) -> Result<(), Errno> {
        let arguments = [self.page(first), count * PAGE, protection as u64];
        // SAFETY: pages of this mapping, which only tests reach.
        unsafe { call(number::mprotect, &arguments) }.map(drop)
    }

    /// `munmap` of `count` pages from page `first`.
    pub fn unmap(&self, first: u64, count: u64) -> Result<(), Errno> {
        // SAFETY: pages of this mapping, which only tests reach.
        unsafe { call(number::munmap, &[self.page(first), count * PAGE]) }.map(drop)
    }
}

/// A word, 0 at first, that the caller shares with the children that it makes from now on; it stays for ever.
///
/// # Panics
/// Where there is no memory.
#[must_use]
pub fn shared_word() -> &'static AtomicU32 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, where the kernel puts it.
    let page = unsafe { call(number::mmap, &[0, PAGE, protection as u64, flags as u64, u64::MAX, 0]) };
    let page = page.expect("mmap") as *const AtomicU32;
    // SAFETY: the page is zeroed, aligned, and never unmapped.
    unsafe { &*page }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.unmap(0, self.count).expect("munmap");
    }
}
