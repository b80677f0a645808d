//! Page tables: entries, and the way down to one.
//!
//! An entry is atomic because the CPU's page walker reads it at any moment. It is non-zero exactly if something is
//! mapped; `PRESENT` may still be missing, where the page may not be accessed but its frame is kept (`PROT_NONE`).
//! `OWNED` says that the entry holds a frame reference; without it the frame belongs to somebody who outlives the
//! table (the kernel image, a device, the initial root archive).

use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicU64, Ordering};

use syscalls::Errno;
use x86_64::structures::paging::PageTableFlags as Flags;

use super::frames::{Budget, Frame};
use super::layout;

/// The entry holds a frame reference.
pub(crate) const OWNED: Flags = Flags::BIT_9;

/// Flags of an entry that points to a table: everything is decided at the leaf.
const TABLE: Flags = Flags::PRESENT.union(Flags::WRITABLE).union(Flags::ACCESSED);

/// Entries in a table.
pub(crate) const ENTRIES: usize = 512;

/// The level of the top table; level 1 holds the 4 KiB pages.
pub(crate) const TOP: u32 = 4;

/// A page table, as the direct map shows it.
pub(crate) type Table = [Entry; ENTRIES];

/// One entry of a page table.
#[repr(transparent)]
pub(crate) struct Entry(AtomicU64);

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapping(u64);

impl Mapping {
    /// Nothing.
    pub(crate) const EMPTY: Mapping = Mapping(0);

    const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

    /// A mapping of `physical`, which is aligned to the page's size.
    pub(crate) fn new(physical: u64, flags: Flags) -> Mapping {
        Mapping(physical | flags.bits())
    }

    /// A mapping that holds `frame`, without any access yet.
    pub(crate) fn of_frame(frame: Frame) -> Mapping {
        Mapping::new(frame.into_address(), OWNED)
    }

    /// The same without some flags.
    pub(crate) fn without(self, flags: Flags) -> Mapping {
        Mapping(self.0 & !flags.bits())
    }

    /// Looks at the frame that the mapping holds, if it does, without taking it.
    ///
    /// # Safety
    /// The reference is in an entry, and stays there meanwhile.
    pub(crate) unsafe fn frame(self) -> Option<ManuallyDrop<Frame>> {
        // SAFETY: the caller's promise; the value is never dropped, so the entry still has its reference.
        self.has(OWNED).then(|| ManuallyDrop::new(unsafe { Frame::from_address(self.address()) }))
    }

    /// Whether nothing is mapped.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `flags` are set.
    pub(crate) fn has(self, flags: Flags) -> bool {
        self.0 & flags.bits() == flags.bits()
    }

    /// The physical address.
    pub(crate) fn address(self) -> u64 {
        self.0 & Self::ADDRESS
    }

    /// The same page with other flags; whether it holds a frame stays.
    pub(crate) fn with_flags(self, flags: Flags) -> Mapping {
        Mapping(self.address() | self.0 & OWNED.bits() | flags.bits())
    }
}

impl Entry {
    /// What the entry says now.
    pub(crate) fn get(&self) -> Mapping {
        Mapping(self.0.load(Ordering::Relaxed))
    }

    /// Replaces the entry. The order after the page's own bytes is that of x86 stores; `Release` keeps the compiler
    /// to it.
    pub(crate) fn set(&self, mapping: Mapping) {
        self.0.store(mapping.0, Ordering::Release);
    }

    /// Empties the entry, and returns what it said.
    pub(crate) fn take(&self) -> Mapping {
        let mapping = self.get();
        self.set(Mapping::EMPTY);
        mapping
    }

    /// The table that the entry points to, made first if there is none.
    ///
    /// # Errors
    /// ENOMEM from the allocation.
    ///
    /// # Safety
    /// The entry is at a level above 1 and points to no large page; the table is used no longer than it exists; the
    /// lock of the page tables is held.
    pub(crate) unsafe fn table_or_new(&self, flags: Flags, budget: Budget) -> Result<&'static Table, Errno> {
        if self.get().is_empty() {
            self.set(Mapping::of_frame(Frame::allocate_zeroed(budget)?).with_flags(TABLE | flags));
        }
        // SAFETY: the entry points to a table: the caller's promise, or just made.
        Ok(unsafe { table(self.get().address()) })
    }
}

/// The table in the frame at `physical`.
///
/// # Safety
/// A table is there, and stays there for as long as the reference is used.
pub(crate) unsafe fn table(physical: u64) -> &'static Table {
    // SAFETY: the direct map shows the frame, and entries are atomic, so shared references are enough.
    unsafe { &*layout::direct::<Table>(physical) }
}

/// The index of `address` in a table of `level`.
pub(crate) fn index(address: u64, level: u32) -> usize {
    (address >> (12 + 9 * (level - 1))) as usize % ENTRIES
}

/// How many bytes an entry of a table of `level` maps.
pub(crate) const fn span(level: u32) -> u64 {
    1 << (12 + 9 * (level - 1))
}
