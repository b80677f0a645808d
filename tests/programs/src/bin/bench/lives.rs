//! LWPs, processes and programs, from their beginning to their end. The loops' own few instructions are not taken off.

use std::arch::asm;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use userlib::{Errno, raw};

use crate::crowd::{LWP, TELL_LIFE};
use crate::measure::{BATCH, Outcome, batches, ticks};

/// The small program that [`program`] runs; it must be in the root folder.
const PROGRAM: &CStr = c"/nothing";

/// Measures a life, over and over.
fn lives(life: impl Fn() -> Result<(), String>) -> Outcome {
    life()?;
    let mut failed = None;
    let figure = batches(
        || {
            let before = ticks();
            for _ in 0..BATCH {
                failed = failed.take().or(life().err());
            }
            ticks() - before
        },
        || 0,
    );
    failed.map_or(Ok(figure), Err)
}

/// `clone`, `exit`, and a wait for the word that the kernel clears.
pub(crate) fn lwp() -> Outcome {
    const WAIT: i32 = 0;
    lives(|| {
        let word = AtomicU32::new(0);
        let at = word.as_ptr().expose_provenance() as u64;
        // SAFETY: the new LWP ends at once, on registers alone; the word outlives it, for it is waited for.
        let tid = unsafe { clone_and_exit(LWP | TELL_LIFE, at) };
        Errno::from_return(tid).map_err(|errno| errno.to_string())?;
        while word.load(SeqCst) != 0 {
            // SAFETY: the word is this function's; there is no time-out.
            unsafe { raw::futex(at, WAIT, tid as u32, 0, 0, 0) };
        }
        Ok(())
    })
}

/// # Safety
/// `word` is a word that stays until it is cleared.
unsafe fn clone_and_exit(flags: u64, word: u64) -> u64 {
    let result;
    // SAFETY: the new LWP uses neither the stack nor memory.
    unsafe {
        asm!(
            "syscall",
            "test eax, eax",
            "jnz 2f",
            "xor edi, edi",
            "mov eax, {exit}",
            "syscall",
            "ud2",
            "2:",
            exit = const syscalls::number::exit,
            inlateout("rax") syscalls::number::clone as u64 => result,
            in("rdi") flags,
            in("rsi") 0_u64,
            in("rdx") word,
            in("r10") word,
            in("r8") 0_u64,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

// The C library's own, which std's threads are made of. `pthread_t` is a pointer there.
unsafe extern "C" {
    fn pthread_create(
        thread: *mut *mut c_void,
        attributes: *const c_void,
        start: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: *mut c_void, result: *mut *mut c_void) -> c_int;
}

extern "C" fn nothing(argument: *mut c_void) -> *mut c_void {
    argument
}

/// A thread of the C library's, with its stack.
pub(crate) fn pthread() -> Outcome {
    lives(|| {
        let mut thread = null_mut();
        // SAFETY: the function needs nothing; the thread is joined once.
        let statuses = unsafe {
            match pthread_create(&raw mut thread, null(), nothing, null_mut()) {
                0 => pthread_join(thread, null_mut()),
                error => error,
            }
        };
        if statuses == 0 { Ok(()) } else { Err(format!("error {statuses}")) }
    })
}

/// `fork`, `exit`, `wait4`.
pub(crate) fn process() -> Outcome {
    lives(|| match raw::fork() {
        // SAFETY: ends the child.
        0 => unsafe {
            raw::exit_group(0);
            unreachable!("exit_group returns not")
        },
        pid => wait_for(pid),
    })
}

/// `vfork`, `execve`, what the program does to start and to end, `wait4`.
pub(crate) fn program() -> Outcome {
    let arguments = [PROGRAM.as_ptr(), null()];
    let environment = [null::<u8>()];
    lives(|| {
        let pid;
        // SAFETY: the child uses no memory of its maker's but the constant strings, and no stack.
        unsafe {
            asm!(
                "syscall",
                "test eax, eax",
                "jnz 2f",
                "mov eax, {execve}",
                "syscall",
                "mov edi, 127", // there is no such program
                "mov eax, {exit}",
                "syscall",
                "ud2",
                "2:",
                execve = const syscalls::number::execve,
                exit = const syscalls::number::exit_group,
                inlateout("rax") syscalls::number::vfork as u64 => pid,
                in("rdi") PROGRAM.as_ptr(),
                in("rsi") arguments.as_ptr(),
                in("rdx") environment.as_ptr(),
                lateout("rcx") _,
                lateout("r11") _,
            );
        }
        wait_for(pid)
    })
}

/// Waits for a child's good end.
fn wait_for(pid: u64) -> Result<(), String> {
    let pid = Errno::from_return(pid).map_err(|errno| errno.to_string())?;
    let mut status = 0_u32;
    // SAFETY: the place is this function's.
    let waited = unsafe { raw::wait4(pid as i32, (&raw mut status).expose_provenance() as u64, 0, 0) };
    match status {
        0 if waited == pid => Ok(()),
        _ => Err(format!("the child ended with {status:#x}")),
    }
}
