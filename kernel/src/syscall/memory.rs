//! Mapping memory.

use super::{Address, Int, Result, Size};
use crate::fs::File;
use crate::mm::{Kind, Movable, Place, Protection};
use crate::proc::{current, current_space};
use core::ops::Range;
use syscalls::Errno;

const MAP_SHARED: Int = 0x01;
const MAP_PRIVATE: Int = 0x02;
const MAP_TYPE: Int = 0x0f;
const MAP_FIXED: Int = 0x10;
const MAP_ANONYMOUS: Int = 0x20;
const MAP_FIXED_NOREPLACE: Int = 0x10_0000;

pub(super) fn mmap(
    address: Address,
    length: Size,
    protection: Int,
    flags: Int,
    fd: Int,
    offset: Size,
) -> Result {
    let protection = decode_protection(protection)?;
    let place = decode_place(address, flags)?;
    let kind = match (flags & MAP_TYPE, flags & MAP_ANONYMOUS != 0) {
        (MAP_PRIVATE, true) => Kind::Anonymous,
        (MAP_SHARED, true) => Kind::Shared,
        (MAP_PRIVATE, false) => file_kind(fd, offset)?,
        (MAP_SHARED, false) => return Err(Errno::ENODEV), // nothing here can be written back
        _ => return Err(Errno::EINVAL),
    };
    current_space().map(place, length, protection, kind)
}

fn decode_protection(bits: Int) -> Result<Protection> {
    u64::try_from(bits).ok().and_then(Protection::from_bits).ok_or(Errno::EINVAL)
}

fn decode_place(address: Address, flags: Int) -> Result<Place> {
    let fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0;
    if fixed && !address.is_multiple_of(crate::mm::layout::PAGE_SIZE) {
        return Err(Errno::EINVAL);
    }
    Ok(match fixed {
        true if flags & MAP_FIXED_NOREPLACE != 0 => Place::FixedIfFree(address),
        true => Place::Fixed(address),
        false => Place::Near(address),
    })
}

fn file_kind(fd: Int, offset: Size) -> Result<Kind> {
    if !offset.is_multiple_of(crate::mm::layout::PAGE_SIZE) {
        return Err(Errno::EINVAL);
    }
    match current().descriptors.lock().get(fd)?.open.file {
        File::Root(file) => Ok(Kind::File(file.data.get(offset as usize..).unwrap_or(&[]))),
        _ => Err(Errno::ENODEV),
    }
}

pub(super) fn munmap(address: Address, length: Size) -> Result {
    current_space().unmap(range(address, length)?)?;
    Ok(0)
}

pub(super) fn mprotect(address: Address, length: Size, protection: Int) -> Result {
    const GROWS: Int = 0x0300_0000; // PROT_GROWSDOWN and PROT_GROWSUP: no region here grows
    let protection = decode_protection(protection & !GROWS)?;
    if length == 0 && address.is_multiple_of(crate::mm::layout::PAGE_SIZE) {
        return Ok(0);
    }
    current_space().protect(range(address, length)?, protection)?;
    Ok(0)
}

pub(super) fn brk(address: Address) -> Result {
    Ok(current_space().set_break(address))
}

pub(super) fn mremap(
    old_address: Address,
    old_length: Size,
    new_length: Size,
    flags: Int,
    new_address: Address,
) -> Result {
    const MAYMOVE: Int = 1;
    const TO_FIXED_PLACE: Int = MAYMOVE | 2;
    let old = range(old_address, old_length)?;
    let space = current_space();
    match flags {
        0 => space.remap(old, new_length, Movable::No),
        MAYMOVE => space.remap(old, new_length, Movable::Yes),
        TO_FIXED_PLACE => {
            let new = range(new_address, new_length)?;
            if new.start < old.end && old.start < new.end {
                return Err(Errno::EINVAL);
            }
            // What is longer than the new place is cut off where it is.
            let kept = old.start..old.end.min(old.start.saturating_add(new.end - new.start));
            if kept != old {
                space.remap(old, new_length, Movable::No)?;
            }
            space.remap(kept, new_length, Movable::To(new.start))
        }
        _ => Err(Errno::EINVAL),
    }
}

pub(super) fn madvise(address: Address, length: Size, advice: Int) -> Result {
    const MADV_DONTNEED: Int = 4;
    /// Advice that may be ignored: what Linux knows up to MADV_POPULATE_WRITE.
    const IGNORED: Range<Int> = 0..24;
    match advice {
        _ if !address.is_multiple_of(crate::mm::layout::PAGE_SIZE) => Err(Errno::EINVAL),
        _ if length == 0 => Ok(0),
        MADV_DONTNEED => current_space().discard(range(address, length)?).map(|()| 0),
        _ if IGNORED.contains(&advice) => Ok(0),
        _ => Err(Errno::EINVAL),
    }
}

/// The pages from `address` on that `length` bytes touch. EINVAL where the address is not a page's, the length is 0 or
/// the end lies beyond all addresses.
fn range(address: Address, length: Size) -> Result<Range<u64>> {
    let page = crate::mm::layout::PAGE_SIZE;
    let end = length.checked_next_multiple_of(page).and_then(|length| address.checked_add(length));
    match end {
        Some(end) if address.is_multiple_of(page) && length > 0 => Ok(address..end),
        _ => Err(Errno::EINVAL),
    }
}
