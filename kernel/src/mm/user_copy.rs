//! The only instructions that touch a program's memory by its own addresses.
//!
//! They lie between two labels and push nothing, so a fault there that cannot be resolved resumes at a third label,
//! which returns "failed" to the routine's caller: see [`fixup`]. Where the CPU has SMAP, `stac` opens the program's
//! memory for the copy and `clac` closes it again; a fault handler in between runs with it closed.

use core::arch::global_asm;

use crate::debug::perturb::{self, Point};
use syscalls::Errno;

unsafe extern "C" {
    /// Copies `length` bytes; returns whether it failed.
    fn user_copy_bytes(to: *mut u8, from: *const u8, length: usize) -> bool;
    /// Copies four bytes in one access; returns whether it failed.
    fn user_copy_4(to: *mut u8, from: *const u8) -> bool;
    /// Copies eight bytes in one access; returns whether it failed.
    fn user_copy_8(to: *mut u8, from: *const u8) -> bool;
    /// Writes two words; returns whether it failed.
    fn user_store_2(to: u64, words_0: u64, words_1: u64) -> bool;
    /// Writes three words; returns whether it failed.
    fn user_store_3(to: u64, words_0: u64, words_1: u64, words_2: u64) -> bool;
    /// Writes four words; returns whether it failed.
    fn user_store_4(to: u64, words_0: u64, words_1: u64, words_2: u64, words_3: u64) -> bool;
    /// Writes a byte back as it is; returns whether it failed.
    fn user_touch(at: *mut u8) -> bool;
    static user_access_start: u8;
    static user_access_end: u8;
    static user_access_failed: u8;
}

global_asm!(
    // Room for `stac`, which boot puts there where the CPU has SMAP.
    ".macro user_open",
    "2:  .byte 0x0f, 0x1f, 0x00",
    "    .pushsection .stac_sites, \"a\"",
    "    .quad 2b",
    "    .popsection",
    ".endm",
    // Room for `clac`; then returns eax as the answer.
    ".macro user_close",
    "3:  .byte 0x0f, 0x1f, 0x00",
    "    .pushsection .clac_sites, \"a\"",
    "    .quad 3b",
    "    .popsection",
    "    ret",
    ".endm",
    ".global user_copy_bytes, user_copy_4, user_copy_8, user_store_2, user_store_3, user_store_4, user_touch",
    ".global user_access_start, user_access_end, user_access_failed",
    ".pushsection .text.user_access, \"ax\"",
    "user_access_start:",
    // rdi: to, rsi: from, rdx: length. Words first, then the rest.
    "user_copy_bytes:",
    "    user_open",
    "    mov rcx, rdx",
    "    shr rcx, 3",
    "    rep movsq",
    "    mov ecx, edx",
    "    and ecx, 7",
    "    rep movsb",
    "    xor eax, eax",
    "    user_close",
    // rdi: to, rsi: from.
    "user_copy_4:",
    "    user_open",
    "    mov eax, [rsi]",
    "    mov [rdi], eax",
    "    xor eax, eax",
    "    user_close",
    "user_copy_8:",
    "    user_open",
    "    mov rax, [rsi]",
    "    mov [rdi], rax",
    "    xor eax, eax",
    "    user_close",
    // rdi: to; rsi, rdx, rcx, r8: the words.
    "user_store_2:",
    "    user_open",
    "    mov [rdi], rsi",
    "    mov [rdi + 8], rdx",
    "    xor eax, eax",
    "    user_close",
    "user_store_3:",
    "    user_open",
    "    mov [rdi], rsi",
    "    mov [rdi + 8], rdx",
    "    mov [rdi + 16], rcx",
    "    xor eax, eax",
    "    user_close",
    "user_store_4:",
    "    user_open",
    "    mov [rdi], rsi",
    "    mov [rdi + 8], rdx",
    "    mov [rdi + 16], rcx",
    "    mov [rdi + 24], r8",
    "    xor eax, eax",
    "    user_close",
    // rdi: a byte.
    "user_touch:",
    "    user_open",
    "    lock or byte ptr [rdi], 0",
    "    xor eax, eax",
    "    user_close",
    "user_access_end:",
    "user_access_failed:",
    "    mov eax, 1",
    "    user_close",
    ".popsection",
    ".purgem user_open",
    ".purgem user_close",
);

/// Where to resume after a fault at instruction `ip` of the kernel that could not be resolved. `None`: the fault is no
/// program's doing.
pub(crate) fn fixup(ip: u64) -> Option<u64> {
    let routines = &raw const user_access_start as u64..&raw const user_access_end as u64;
    routines.contains(&ip).then_some(&raw const user_access_failed as u64)
}

/// Reads `length` bytes at `address`.
///
/// # Errors
/// EFAULT.
///
/// # Safety
/// `to` is valid for writes of `length` bytes, and the range at `address` is below the end of user space.
#[inline]
pub(super) unsafe fn read(to: *mut u8, address: u64, length: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { copy(to, address as *const u8, length) }
}

/// Writes `length` bytes to `address`.
///
/// # Errors
/// EFAULT.
///
/// # Safety
/// `from` is valid for reads of `length` bytes, and the range at `address` is below the end of user space.
#[inline]
pub(super) unsafe fn write(address: u64, from: *const u8, length: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { copy(address as *mut u8, from, length) }
}

/// Writes two words to `address`, from registers.
///
/// # Errors
/// EFAULT.
///
/// # Safety
/// The 16 bytes at `address` are below the end of user space.
#[inline(always)]
pub(super) unsafe fn store_2(address: u64, words: [u64; 2]) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    answer(unsafe { user_store_2(address, words[0], words[1]) })
}

/// Writes three words to `address`, from registers.
///
/// # Errors
/// EFAULT.
///
/// # Safety
/// The 24 bytes at `address` are below the end of user space.
#[inline(always)]
pub(super) unsafe fn store_3(address: u64, words: [u64; 3]) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    answer(unsafe { user_store_3(address, words[0], words[1], words[2]) })
}

/// Writes four words to `address`, from registers.
///
/// # Errors
/// EFAULT.
///
/// # Safety
/// The 32 bytes at `address` are below the end of user space.
#[inline(always)]
pub(super) unsafe fn store_4(address: u64, words: [u64; 4]) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    answer(unsafe { user_store_4(address, words[0], words[1], words[2], words[3]) })
}

/// Writes the byte at `address` back as it is.
///
/// # Errors
/// EFAULT.
///
/// # Safety
/// `address` is below the end of user space.
pub(super) unsafe fn touch(address: u64) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    answer(unsafe { user_touch(address as *mut u8) })
}

#[inline]
unsafe fn copy(to: *mut u8, from: *const u8, length: usize) -> Result<(), Errno> {
    // SAFETY: the callers' promise: the kernel's side is valid, the program's side is only touched by the routines.
    answer(unsafe {
        match length {
            4 => user_copy_4(to, from),
            8 => user_copy_8(to, from),
            _ => user_copy_bytes(to, from, length),
        }
    })
}

#[inline]
fn answer(failed: bool) -> Result<(), Errno> {
    perturb::point(Point::Copied);
    if failed { Err(bad_address()) } else { Ok(()) }
}

/// Tells the compiler which way is rare.
#[cold]
fn bad_address() -> Errno {
    Errno::EFAULT
}
