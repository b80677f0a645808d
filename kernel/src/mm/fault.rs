//! Page faults: giving a page its contents when it is first touched, and a copy of its own when it is first written.

use kcore::region::{Access, Kind, PAGE_SIZE, Protection, Region};
use syscalls::Errno;
use x86_64::structures::paging::PageTableFlags as Flags;

use super::address_space::{AddressSpace, Inner};
use super::frames::{Budget, Frame, clear_page};
use super::layout::{self, direct};
use super::retired::Retired;
use super::table::Mapping;
use super::tlb;

/// Why an access is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultError {
    /// No region has the address.
    NotMapped,
    /// The region does not permit the access.
    NotPermitted,
    /// The page lies wholly past the end of its file.
    PastEnd,
    /// There is no frame for it.
    OutOfMemory,
}

impl From<Errno> for FaultError {
    /// The only errno on the way is ENOMEM.
    fn from(_: Errno) -> Self {
        FaultError::OutOfMemory
    }
}

impl AddressSpace {
    /// Makes `access` to `address` possible. Interrupts are off, and no lock of a higher rank is held.
    ///
    /// # Errors
    /// It is not possible; see [`FaultError`].
    pub(crate) fn fault(&self, address: u64, access: Access) -> Result<(), FaultError> {
        self.inner.lock().fault(address, access)
    }
}

impl Inner {
    pub(super) fn fault(&mut self, address: u64, access: Access) -> Result<(), FaultError> {
        let Inner { regions, tables } = self;
        let region = regions.lookup(address).ok_or(FaultError::NotMapped)?;
        if !region.protection.permits(access) {
            return Err(FaultError::NotPermitted);
        }
        let page = address / PAGE_SIZE * PAGE_SIZE;
        let entry = tables.entry(page)?;
        let now = entry.get();
        if now.is_empty() {
            entry.set(first_contents(region, page, access)?);
            tables.count_page();
            return Ok(());
        }
        let range = page..page + PAGE_SIZE;
        if access == Access::Write && !may_be_written(region, now) {
            let mapping = finished(region, copy_of(now)?);
            Retired::new(tables.root_address(), range).replace(entry, mapping);
        } else {
            // Another LWP was faster, or the page became ours alone. Nothing is taken away: a CPU that still has the
            // stricter entry comes here too.
            entry.set(finished(region, now));
            tlb::forget_here(range);
        }
        Ok(())
    }
}

/// The flags that `region` wants for a page that it maps so.
fn leaf_flags(region: &Region, mapping: Mapping) -> Flags {
    let protection = region.protection;
    let mut flags = Flags::USER_ACCESSIBLE | Flags::ACCESSED;
    flags.set(Flags::PRESENT, protection != Protection::NONE);
    flags.set(Flags::NO_EXECUTE, !protection.permits(Access::Execute));
    if protection.permits(Access::Write) && may_be_written(region, mapping) {
        flags |= Flags::WRITABLE | Flags::DIRTY;
    }
    flags
}

/// The same page with the flags that `region` wants.
pub(super) fn finished(region: &Region, mapping: Mapping) -> Mapping {
    mapping.with_flags(leaf_flags(region, mapping))
}

/// Whether a write to the page may go to the frame that it has: nobody else sees it, or everybody shall.
fn may_be_written(region: &Region, mapping: Mapping) -> bool {
    // SAFETY: the mapping is in an entry, or about to be, under the address space's lock.
    let frame = unsafe { mapping.frame() };
    frame.is_some_and(|frame| matches!(region.kind, Kind::Shared) || !frame.is_shared())
}

/// What a page holds when it is first touched.
fn first_contents(region: &Region, page: u64, access: Access) -> Result<Mapping, FaultError> {
    let mapping = match region.kind {
        Kind::Anonymous | Kind::Shared => Mapping::of_frame(Frame::allocate_zeroed(Budget::User)?),
        Kind::File(bytes) => {
            let rest = bytes.get((page - region.start) as usize..).unwrap_or(&[]);
            file_page(rest, access)?
        }
    };
    Ok(finished(region, mapping))
}

/// A page that begins with `rest` of a file. Whole pages of the archive that only are read need no copy.
fn file_page(rest: &'static [u8], access: Access) -> Result<Mapping, FaultError> {
    if rest.is_empty() {
        return Err(FaultError::PastEnd);
    }
    let in_place = layout::physical(rest.as_ptr()).filter(|address| address.is_multiple_of(PAGE_SIZE));
    match in_place {
        Some(address) if access != Access::Write && rest.len() as u64 >= PAGE_SIZE => {
            Ok(Mapping::new(address, Flags::empty()))
        }
        _ => Ok(Mapping::of_frame(frame_with(&rest[..rest.len().min(PAGE_SIZE as usize)])?)),
    }
}

/// A new frame with `bytes`, at most a page of them, then zeroes.
fn frame_with(bytes: &[u8]) -> Result<Frame, Errno> {
    let frame = Frame::allocate(Budget::User)?;
    // SAFETY: nobody else has the frame, and there are no more than its size of bytes.
    unsafe {
        if bytes.len() < PAGE_SIZE as usize {
            clear_page(frame.pointer());
        }
        frame.pointer().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
    Ok(frame)
}

/// A new frame with the same bytes as a mapped page.
fn copy_of(mapping: Mapping) -> Result<Mapping, Errno> {
    let frame = Frame::allocate(Budget::User)?;
    // SAFETY: the old frame stays while the lock is held, and nobody else has the new one. All that map the old one are
    // kept from writing it, or it would not need a copy.
    unsafe { frame.pointer().copy_from_nonoverlapping(direct::<u8>(mapping.address()), PAGE_SIZE as usize) };
    Ok(Mapping::of_frame(frame))
}
