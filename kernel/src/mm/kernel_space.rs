//! The kernel's half of every address space.
//!
//! Built once, by [`build`], from frames that the boot page tables reach. Its top-level entries never change
//! afterwards, so a user page table shares the half by copying them; what changes below them is seen by all.
//!
//! **W^X holds for every alias**: the image's code and constants are read-only in the direct map too, which itself is
//! never executable. The boot tables' identity map is not taken over.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::sync::SpinMutex as Mutex;
use syscalls::Errno;
use x86_64::structures::paging::PageTableFlags as Flags;

use super::frames::{Budget, Frame};
use super::layout::{self, DEVICES, DIRECT_MAP, KERNEL_BASE, KERNEL_ENTRIES, MAX_PHYSICAL, PAGE_SIZE};
use super::table::{Entry, Mapping, TOP, Table, index, span, table};
use super::tlb;
use crate::arch::features;

const READ_ONLY: Flags = Flags::PRESENT.union(Flags::GLOBAL).union(Flags::ACCESSED).union(Flags::NO_EXECUTE);
const READ_WRITE: Flags = READ_ONLY.union(Flags::WRITABLE).union(Flags::DIRTY);
const EXECUTABLE: Flags = READ_ONLY.difference(Flags::NO_EXECUTE);
const DEVICE: Flags = READ_WRITE.union(Flags::NO_CACHE).union(Flags::WRITE_THROUGH);

/// The kernel's top table; 0 until it is built.
static ROOT: AtomicU64 = AtomicU64::new(0);

/// Guards all tables of the kernel's half, and holds the first device address not given out.
static TABLES: Mutex<u64> = Mutex::new(DEVICES.start);

/// Builds the kernel's page tables and switches this CPU to them. `ram` are the ranges that the direct map must show,
/// in any order; pages of 2 MiB that they touch are shown whole.
///
/// # Errors
/// ENOMEM: too little memory below 1 GiB for the tables.
///
/// # Safety
/// Called once, on the boot page tables, with frames available from below 1 GiB; nothing uses the identity map
/// afterwards.
pub(crate) unsafe fn build(ram: impl Iterator<Item = Range<u64>>) -> Result<(), Errno> {
    let _tables = TABLES.lock();
    let root = Frame::allocate_zeroed(Budget::Kernel)?.into_address();
    ROOT.store(root, Ordering::Relaxed);
    for (part, flags) in image_parts() {
        map(part.clone(), part.start - KERNEL_BASE, flags, Pages::Small)?;
        let alias = if flags == READ_WRITE { READ_WRITE } else { READ_ONLY };
        let physical = part.start - KERNEL_BASE;
        map(DIRECT_MAP + physical..DIRECT_MAP + (part.end - KERNEL_BASE), physical, alias, Pages::Small)?;
    }
    let largest = if features().huge_pages { Pages::Huge } else { Pages::Large };
    for range in ram {
        let start = range.start.min(MAX_PHYSICAL) / span(2) * span(2);
        let end = range.end.min(MAX_PHYSICAL).next_multiple_of(span(2));
        map(DIRECT_MAP + start..DIRECT_MAP + end, start, READ_WRITE, largest)?;
    }
    prepare_areas()?;
    activate();
    Ok(())
}

/// Makes the second-level table of the heap, the stacks and the devices, which share one top-level entry.
fn prepare_areas() -> Result<(), Errno> {
    for entry in KERNEL_ENTRIES {
        // SAFETY: a top-level entry points to a table, and the lock is held.
        unsafe { root()[entry].table_or_new(Flags::empty(), Budget::Kernel)? };
    }
    Ok(())
}

/// Switches this CPU to the kernel's own tables.
pub(crate) fn activate() {
    // SAFETY: the tables map the running code, its data and its stack.
    unsafe { tlb::load_root(root_address()) };
}

/// The physical address of the kernel's top table.
pub(crate) fn root_address() -> u64 {
    ROOT.load(Ordering::Relaxed)
}

/// Makes `user_root` share the kernel's half.
pub(crate) fn share_with(user_root: &Table) {
    for entry in KERNEL_ENTRIES {
        user_root[entry].set(root()[entry].get());
    }
}

/// Maps device registers, uncached, for good. The result points at `physical`, whatever its alignment.
///
/// # Errors
/// ENOMEM: no frame for a table, or the area is full.
pub(crate) fn map_device(physical: u64, length: u64) -> Result<*mut u8, Errno> {
    let mut next = TABLES.lock();
    let offset = physical % PAGE_SIZE;
    let pages = offset.checked_add(length).ok_or(Errno::ENOMEM)?.next_multiple_of(PAGE_SIZE);
    if pages > DEVICES.end - *next {
        return Err(Errno::ENOMEM);
    }
    let address = *next;
    map(address..address + pages, physical - offset, DEVICE, Pages::Small)?;
    *next += pages;
    Ok((address + offset) as *mut u8)
}

/// Maps `frame` at the kernel address `address`, readable and writable.
///
/// # Errors
/// ENOMEM: no frame for a table.
pub(crate) fn map_frame(address: u64, frame: Frame) -> Result<(), Errno> {
    let _tables = TABLES.lock();
    let entry = leaf(address)?;
    debug_assert!(entry.get().is_empty());
    entry.set(Mapping::of_frame(frame).with_flags(READ_WRITE));
    Ok(())
}

/// Unmaps what [`map_frame`] mapped at `address`, and returns the frame. CPUs may keep the old translation until
/// [`tlb::forget_kernel`].
///
/// # Safety
/// Nothing uses the page any more, nor will before the CPUs have forgotten it.
pub(crate) unsafe fn unmap_frame(address: u64) -> Option<Frame> {
    let _tables = TABLES.lock();
    let entry = leaf(address).ok()?;
    let mapping = entry.get();
    if mapping.is_empty() {
        return None;
    }
    entry.set(Mapping::EMPTY);
    // SAFETY: the entry held the reference, and no longer does.
    Some(unsafe { Frame::from_address(mapping.address()) })
}

/// The lowest-level entry of `address`; the tables on the way are made.
fn leaf(address: u64) -> Result<&'static Entry, Errno> {
    debug_assert!((layout::HEAP.start..layout::STACKS.end).contains(&address));
    let mut tables = root();
    for level in (2..=TOP).rev() {
        // SAFETY: the areas have no large pages, their tables are never freed, and the caller holds the lock.
        tables = unsafe { tables[index(address, level)].table_or_new(Flags::empty(), Budget::Kernel)? };
    }
    Ok(&tables[index(address, 1)])
}

fn root() -> &'static Table {
    // SAFETY: the root is built before anything else here is called, and never freed.
    unsafe { table(root_address()) }
}

/// The parts of the image and their permissions.
fn image_parts() -> [(Range<u64>, Flags); 3] {
    [(layout::text(), EXECUTABLE), (layout::rodata(), READ_ONLY), (layout::data(), READ_WRITE)]
}

/// The largest page that [`map`] may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Pages {
    /// 4 KiB.
    Small = 1,
    /// 2 MiB.
    Large = 2,
    /// 1 GiB.
    Huge = 3,
}

/// Maps what is not yet mapped of `range` to the physical addresses from `physical` on; what is mapped stays.
fn map(range: Range<u64>, physical: u64, flags: Flags, largest: Pages) -> Result<(), Errno> {
    let request = Request { offset: physical.wrapping_sub(range.start), flags, largest };
    request.fill(root(), TOP, range)
}

struct Request {
    /// Physical minus virtual.
    offset: u64,
    flags: Flags,
    largest: Pages,
}

impl Request {
    /// Fills the entries of one table that `range` touches, by pages as large as fit.
    fn fill(&self, table: &Table, level: u32, range: Range<u64>) -> Result<(), Errno> {
        let mut start = range.start;
        while start != range.end {
            let entry = &table[index(start, level)];
            // Wraps to 0 at the top of the address space, hence "≠" above and the distance below.
            let here = (span(level) - start % span(level)).min(range.end.wrapping_sub(start));
            let whole = here == span(level) && self.physical(start).is_multiple_of(span(level));
            if entry.get().is_empty() && whole && level <= self.largest as u32 {
                let size = if level > 1 { Flags::HUGE_PAGE } else { Flags::empty() };
                entry.set(Mapping::new(self.physical(start), self.flags | size));
            } else if level > 1 && !entry.get().has(Flags::HUGE_PAGE) {
                // SAFETY: no large page; kernel tables are never freed; `TABLES` is locked by all callers.
                let below = unsafe { entry.table_or_new(Flags::empty(), Budget::Kernel)? };
                self.fill(below, level - 1, start..start.wrapping_add(here))?;
            }
            start = start.wrapping_add(here);
        }
        Ok(())
    }

    fn physical(&self, address: u64) -> u64 {
        address.wrapping_add(self.offset)
    }
}
