//! Copies between the kernel and the running program.
//!
//! Every byte goes through the routines of [`user_copy`]: a fault there that the address space cannot resolve ends the
//! routine with a failure, which becomes EFAULT. The whole range is checked against the end of user space first, so no
//! pointer reaches the kernel's half. A write of more than one page first touches every page, so that a call that fails
//! writes nothing (another LWP that unmaps pages meanwhile spoils its own process only).
//!
//! No lock is held by a caller: a copy may fault, and a fault takes the address space's.

use alloc::vec::Vec;

use syscalls::{Crossing, Errno, Failing};

use super::layout::PAGE_SIZE;
use super::user_copy;
use crate::cpu::Here;
use crate::debug::fail;
use kcore::range::UserRange;

/// Reads a value from the program at `address`, once. Words of 4 and 8 bytes are read in one access.
///
/// # Errors
/// EFAULT.
#[inline]
pub(crate) fn copy_in<T: Crossing>(address: u64) -> Result<T, Errno> {
    let mut value = T::default();
    check(address, size_of::<T>() as u64)?;
    // SAFETY: `value` has that size, and a `Crossing` type takes any bytes; the program's side is checked.
    unsafe { user_copy::read((&raw mut value).cast(), address, size_of::<T>())? };
    Ok(value)
}

/// Writes a value to the program at `address`. Words of 4 and 8 bytes are written in one access.
///
/// # Errors
/// EFAULT, and nothing was written.
#[inline(always)]
pub(crate) fn copy_out<T: Crossing>(address: u64, value: &T) -> Result<(), Errno> {
    let size = size_of::<T>();
    let from = &raw const *value;
    check(address, size as u64)?;
    if !is_on_one_page(address, size as u64) {
        return copy_out_over_pages(address, *value);
    }
    // SAFETY: `value` has that size, and a `Crossing` type has no padding, so that it can be read as words; the program's
    // side is checked.
    unsafe {
        match size {
            16 => user_copy::store_2(address, from.cast::<[u64; 2]>().read_unaligned()),
            24 => user_copy::store_3(address, from.cast::<[u64; 3]>().read_unaligned()),
            32 => user_copy::store_4(address, from.cast::<[u64; 4]>().read_unaligned()),
            _ => user_copy::write(address, from.cast(), size),
        }
    }
}

/// By value, so that a value that is in registers stays there where this is not needed.
#[cold]
#[inline(never)]
fn copy_out_over_pages<T: Crossing>(address: u64, value: T) -> Result<(), Errno> {
    // SAFETY: that is the value's size, and a `Crossing` type has no padding.
    let bytes = unsafe { core::slice::from_raw_parts((&raw const value).cast(), size_of::<T>()) };
    write_bytes(address, bytes)
}

/// Makes sure that `length` bytes can be written at `address`, where the writing must not fail later.
///
/// # Errors
/// EFAULT.
pub(crate) fn probe_write(address: u64, length: u64) -> Result<(), Errno> {
    check(address, length)?;
    touch(address, address + length)
}

/// Fills `buffer` from the program at `address`.
///
/// # Errors
/// EFAULT; `buffer` then holds anything.
pub(crate) fn read_bytes(address: u64, buffer: &mut [u8]) -> Result<(), Errno> {
    check(address, buffer.len() as u64)?;
    // SAFETY: the buffer is that large; the program's side is checked.
    unsafe { user_copy::read(buffer.as_mut_ptr(), address, buffer.len()) }
}

/// Writes `bytes` to the program at `address`.
///
/// # Errors
/// EFAULT, and nothing was written.
#[inline(never)]
pub(crate) fn write_bytes(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    let length = bytes.len() as u64;
    check(address, length)?;
    if !is_on_one_page(address, length) {
        touch(address, address + length)?;
    }
    // SAFETY: there are that many bytes; the program's side is checked.
    unsafe { user_copy::write(address, bytes.as_ptr(), bytes.len()) }
}

/// Reads a string that ends with a zero byte, without that byte.
///
/// # Errors
/// EFAULT; ENAMETOOLONG: no zero among the first `max` bytes; ENOMEM.
pub(crate) fn read_string(address: u64, max: usize) -> Result<Vec<u8>, Errno> {
    let mut string = Vec::new();
    append_string(&mut string, address, max)?;
    Ok(string)
}

/// The same, behind what `to` holds.
///
/// # Errors
/// As [`read_string`]; `to` then holds some of the string.
pub(crate) fn append_string(to: &mut Vec<u8>, address: u64, max: usize) -> Result<(), Errno> {
    /// Enough for most strings, and little to read in vain.
    const CHUNK: usize = 64;
    let mut length = 0;
    while length < max {
        let start = address.checked_add(length as u64).ok_or(Errno::EFAULT)?;
        let to_page_end = (PAGE_SIZE - start % PAGE_SIZE) as usize;
        let mut chunk = [0; CHUNK];
        let chunk = &mut chunk[..CHUNK.min(to_page_end).min(max - length)];
        read_bytes(start, chunk)?;
        let end = chunk.iter().position(|&byte| byte == 0);
        let part = &chunk[..end.unwrap_or(chunk.len())];
        to.try_reserve(part.len()).map_err(|_| Errno::ENOMEM)?;
        to.extend_from_slice(part);
        length += part.len();
        if end.is_some() {
            return Ok(());
        }
    }
    Err(Errno::ENAMETOOLONG)
}

/// Refuses a range that does not lie below the end of user space. No bytes are always right.
#[inline]
fn check(address: u64, length: u64) -> Result<(), Errno> {
    if cfg!(debug_assertions) {
        Here::get().held.assert_none("user copy");
    }
    if fail::now(Failing::Copy) {
        return Err(Errno::EFAULT);
    }
    if length == 0 { Ok(()) } else { UserRange::new(address, length).map(drop) }
}

#[inline]
fn is_on_one_page(address: u64, length: u64) -> bool {
    address % PAGE_SIZE + length <= PAGE_SIZE
}

/// Makes every page of the range writable by a write that changes nothing.
#[cold]
fn touch(address: u64, end: u64) -> Result<(), Errno> {
    let mut next = address;
    while next < end {
        // SAFETY: the range is checked.
        unsafe { user_copy::touch(next)? };
        next = (next / PAGE_SIZE + 1) * PAGE_SIZE;
    }
    Ok(())
}
