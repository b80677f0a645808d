//! Many LWPs that need no stack: each makes one system call again and again until it is told to stop.
//!
//! They are made by `clone` itself, with the stack pointer of their maker, and touch no memory but the crowd's words.

use std::arch::asm;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use userlib::{Errno, raw};

/// What makes an LWP of the caller's process: its memory, files and so on are shared.
pub(crate) const LWP: u64 = 0x1_0f00;
/// `clone` writes the new LWP's id, which the kernel clears at its end, waking who waits there.
pub(crate) const TELL_LIFE: u64 = 0x10_0000 | 0x20_0000;

/// A system call and its arguments; the fourth is 0.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: usize,
    pub(crate) arguments: [u64; 3],
}

/// LWPs that were started, and how they are told to stop. It lives as long as they do.
pub(crate) struct Crowd {
    stop: AtomicU32,
    alive: AtomicU32,
}

impl Crowd {
    /// Nobody yet.
    pub(crate) const fn new() -> Self {
        Crowd { stop: AtomicU32::new(0), alive: AtomicU32::new(0) }
    }

    /// Starts `count` LWPs that make `call`; from one call to the next they take three instructions more.
    pub(crate) fn start(&'static self, count: u32, call: Call) -> Result<(), Errno> {
        self.stop.store(0, SeqCst);
        for _ in 0..count {
            self.alive.fetch_add(1, SeqCst);
            // SAFETY: the call is one that its maker may make at any time.
            Errno::from_return(unsafe { self.start_one(call) }).inspect_err(|_| {
                self.alive.fetch_sub(1, SeqCst);
            })?;
        }
        Ok(())
    }

    /// Stops them, calling `let_run` until all have left.
    pub(crate) fn stop(&self, let_run: impl Fn()) {
        self.stop.store(1, SeqCst);
        while self.alive.load(SeqCst) > 0 {
            let_run();
        }
    }

    /// Starts one; the maker goes on with what `clone` returned.
    ///
    /// # Safety
    /// The call's arguments are good for it.
    unsafe fn start_one(&'static self, call: Call) -> u64 {
        let result;
        let [first, second, third] = call.arguments;
        // SAFETY: the new LWP uses neither the stack nor any of Rust's memory but the two words.
        unsafe {
            asm!(
                "syscall",
                "test eax, eax",
                "jnz 3f",
                "mov rdi, r12",
                "mov rsi, r13",
                "mov rdx, r14",
                "2:",
                "mov eax, r15d",
                "syscall",
                "cmp dword ptr [r8], 0",
                "je 2b",
                "lock dec dword ptr [r9]",
                "mov eax, {exit}",
                "syscall",
                "ud2",
                "3:",
                exit = const syscalls::number::exit,
                inlateout("rax") syscalls::number::clone as u64 => result,
                in("rdi") LWP,
                in("rsi") 0_u64,
                in("rdx") 0_u64,
                in("r10") 0_u64,
                in("r8") self.stop.as_ptr(),
                in("r9") self.alive.as_ptr(),
                in("r12") first,
                in("r13") second,
                in("r14") third,
                in("r15") call.number as u64,
                lateout("rcx") _,
                lateout("r11") _,
            );
        }
        result
    }
}

/// Lets others run.
pub(crate) fn give_way() {
    raw::sched_yield();
}
