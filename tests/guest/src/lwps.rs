//! LWPs that need nothing of the program's but a word to wait for.

use std::arch::global_asm;
use std::sync::atomic::AtomicU32;
use syscalls::number;
use userlib::Errno;

unsafe extern "C" {
    /// Makes an LWP of this process that waits at `word` while that is 0, once, and ends. It touches no memory. Returns its
    /// tid, or the negative error.
    fn guest_add_lwp(flags: i32, word: *mut u32) -> u64;
}

// The new LWP has its maker's registers; the word is in r8, where a system call keeps it.
global_asm!(
    ".global guest_add_lwp",
    ".type guest_add_lwp, @function",
    "guest_add_lwp:",
    "mov eax, {clone}",
    "mov r8, rsi",
    "xor esi, esi",
    "syscall",
    "test eax, eax",
    "jnz 2f",
    "mov eax, {futex}",
    "mov rdi, r8",
    "mov esi, {wait}",
    "xor edx, edx",
    "xor r10d, r10d",
    "syscall",
    "mov eax, {exit}",
    "xor edi, edi",
    "syscall",
    "2: ret",
    ".size guest_add_lwp, . - guest_add_lwp",
    clone = const number::clone,
    futex = const number::futex,
    exit = const number::exit,
    wait = const libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
);

/// Makes an LWP of this process that waits at `word` while that is 0, once, and ends; returns its tid.
///
/// # Errors
/// Those of clone(2).
pub fn add_lwp(word: &'static AtomicU32) -> Result<u64, Errno> {
    let same_process = libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    // SAFETY: the new LWP uses nothing of this one's; the word stays.
    Errno::from_return(unsafe { guest_add_lwp(same_process, word.as_ptr()) })
}
