//! Counting semaphores of an [arena](crate::arena): P, V, and what they tell about themselves.
//!
//! The first eight bytes of a semaphore are the word that user mode and the kernel share: while it is not negative, its upper
//! half is the count, and P and V are a compare-and-swap. Else the kernel does them; it is told where in the program they
//! were called.

use core::arch::global_asm;
use core::time::Duration;

use syscalls::sema::{CLOSED, Debug, Meter, MeterExtension, ONE, SemaStatus, control, patience};
use syscalls::{Errno, TimeSpec, number};

use crate::arena::Arena;
use crate::{fetch, raw};

// rdi: the semaphore. All return what the kernel would. An address without bit 44 is in no arena. In the lower half of the
// word V's are counted: when that is half full, the kernel empties it.
global_asm!(
    ".pushsection .text.tally_semaphore, \"ax\"",
    ".macro tally_acquire name, how",
    ".globl \\name",
    ".p2align 4",
    "\\name:",
    "    bt rdi, 44",
    "    jnc 3f",
    "    mov rax, [rdi]",
    "2:  movabs rcx, -{one}",
    "    add rcx, rax",
    "    js 3f",
    "    test eax, eax",
    "    js 3f",
    "    lock cmpxchg [rdi], rcx",
    "    jne 2b",
    "    mov eax, 1",
    "    ret",
    "3:  mov rsi, [rsp]",
    "    mov edx, \\how",
    "    mov eax, {acquire}",
    "    syscall",
    "    ret",
    ".endm",
    "tally_acquire tally_semaphore_p, {wait}",
    "tally_acquire tally_semaphore_try_p, {none}",
    ".purgem tally_acquire",
    // rsi: the time. One that is none is an error, tokens or not, so this is always the kernel's.
    ".globl tally_semaphore_timed_p",
    ".p2align 4",
    "tally_semaphore_timed_p:",
    "    mov r10, rsi",
    "    mov rsi, [rsp]",
    "    mov edx, {timed}",
    "    mov eax, {acquire}",
    "    syscall",
    "    ret",
    ".globl tally_semaphore_v",
    ".p2align 4",
    "tally_semaphore_v:",
    "    bt rdi, 44",
    "    jnc 3f",
    "    mov rax, [rdi]",
    "2:  movabs rcx, {one} + 1",
    "    add rcx, rax",
    "    js 3f",
    "    lock cmpxchg [rdi], rcx",
    "    jne 2b",
    "    xor eax, eax",
    "    ret",
    "3:  mov rsi, [rsp]",
    "    mov eax, {release}",
    "    syscall",
    "    ret",
    ".popsection",
    one = const ONE,
    wait = const patience::WAIT,
    none = const patience::NONE,
    timed = const patience::TIMED,
    acquire = const number::sema_acquire,
    release = const number::sema_release,
);

unsafe extern "sysv64" {
    fn tally_semaphore_p(semaphore: u64) -> u64;
    fn tally_semaphore_try_p(semaphore: u64) -> u64;
    fn tally_semaphore_timed_p(semaphore: u64, time: *const TimeSpec) -> u64;
    fn tally_semaphore_v(semaphore: u64) -> u64;
}

const _: () = assert!(CLOSED >> 63 == 1, "the fast ways know a closed word by its sign");

/// A semaphore of an arena that this process has joined. A copy is the same semaphore; so is one in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Semaphore(u64);

impl Semaphore {
    /// The semaphore at this address, in an arena that this process has joined: one that was handed over as a number.
    #[must_use]
    pub const fn from_address(address: u64) -> Self {
        Semaphore(address)
    }

    /// Its address.
    #[must_use]
    pub const fn address(self) -> u64 {
        self.0
    }

    /// P: takes a token, and waits for one if need be, behind those who came before (`uspsema(3P)`).
    ///
    /// # Errors
    /// EINVAL: it was freed. EIDRM: it was freed or initialised anew meanwhile.
    #[inline(always)] // so that the place of the call is the caller's
    pub fn p(self) -> Result<(), Errno> {
        // SAFETY: the word is the arena's; what is not a semaphore is refused, or memory that is not there.
        Errno::from_return(unsafe { tally_semaphore_p(self.0) }).map(drop)
    }

    /// P if that takes no waiting; whether there was a token (`uscpsema(3P)`).
    ///
    /// # Errors
    /// EINVAL: it was freed.
    #[inline(always)]
    pub fn try_p(self) -> Result<bool, Errno> {
        // SAFETY: as above.
        let result = unsafe { tally_semaphore_try_p(self.0) };
        Errno::from_return(result).map(|token| token != 0)
    }

    /// P that waits for so long at most; whether there was a token in time.
    ///
    /// # Errors
    /// As for [`Semaphore::p`].
    #[inline(always)]
    pub fn p_for(self, time: Duration) -> Result<bool, Errno> {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let time = TimeSpec { seconds, nanoseconds: i64::from(time.subsec_nanos()) };
        // SAFETY: as above; the time is there.
        let result = unsafe { tally_semaphore_timed_p(self.0, &raw const time) };
        Errno::from_return(result).map(|token| token != 0)
    }

    /// V: gives a token back, to the one who has waited longest if anybody waits (`usvsema(3P)`).
    ///
    /// # Errors
    /// EINVAL: it was freed. EOVERFLOW: it has 2^31 − 1. EPERM: recursion is on, and the caller does not own it.
    #[inline(always)]
    pub fn v(self) -> Result<(), Errno> {
        // SAFETY: as above.
        Errno::from_return(unsafe { tally_semaphore_v(self.0) }).map(drop)
    }

    /// P, and its V when the guard is dropped: mutual exclusion, for a semaphore that was made with 1.
    ///
    /// # Errors
    /// As for [`Semaphore::p`].
    #[inline(always)]
    pub fn lock(self) -> Result<Guard, Errno> {
        self.p().map(|()| Guard(self))
    }

    /// The count; where LWPs wait, minus their number (`ustestsema(3P)`).
    ///
    /// # Errors
    /// EINVAL: it was freed.
    pub fn count(self) -> Result<i64, Errno> {
        const BIAS: i64 = 1 << 31;
        // SAFETY: reads only.
        Errno::from_return(unsafe { raw::sema_test(self.0) }).map(|count| count as i64 - BIAS)
    }

    /// Makes it a new one; who waits is told EIDRM (`usinitsema(3P)`).
    ///
    /// # Errors
    /// EINVAL.
    pub fn initialise(self, count: u32) -> Result<(), Errno> {
        let count = i32::try_from(count).map_err(|_| Errno::EINVAL)?;
        // SAFETY: changes the semaphore only.
        Errno::from_return(unsafe { raw::sema_init(self.0, count) }).map(drop)
    }

    /// Frees it; who waits is told EIDRM, and whoever uses it from now on EINVAL (`usfreesema(3P)`).
    ///
    /// # Errors
    /// EINVAL: it was freed already, or is not of this arena.
    pub fn free(self, arena: Arena) -> Result<(), Errno> {
        // SAFETY: its place is never other memory.
        Errno::from_return(unsafe { raw::sema_free(self.0, arena.address()) }).map(drop)
    }

    /// Switches one of its instruments, or resets it (`usctlsema(3P)`).
    ///
    /// # Errors
    /// EINVAL: recursion where it cannot be switched now. ENOMEM: the arena has no memory left.
    pub fn switch(self, what: Switch) -> Result<(), Errno> {
        // SAFETY: nothing is fetched.
        Errno::from_return(unsafe { raw::sema_control(self.0, what as i32, 0) }).map(drop)
    }

    /// What its meter counted.
    ///
    /// # Errors
    /// EINVAL: it is off.
    pub fn meter(self) -> Result<Meter, Errno> {
        // SAFETY: the place is `fetch`'s.
        fetch(|place| unsafe { raw::sema_control(self.0, control::METER_FETCH, place) })
    }

    /// What else its meter counted: how long the waits took.
    ///
    /// # Errors
    /// EINVAL: it is off.
    pub fn waits(self) -> Result<MeterExtension, Errno> {
        // SAFETY: the place is `fetch`'s.
        fetch(|place| unsafe { raw::sema_control(self.0, control::METER_EXTENSION, place) })
    }

    /// Who owns it, and who used it last.
    ///
    /// # Errors
    /// EINVAL: it is not kept.
    pub fn debug(self) -> Result<Debug, Errno> {
        // SAFETY: the place is `fetch`'s.
        fetch(|place| unsafe { raw::sema_control(self.0, control::DEBUG_FETCH, place) })
    }
}

/// What can be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Switch {
    /// Count from now on.
    MeterOn = control::METER_ON,
    /// No longer.
    MeterOff = control::METER_OFF,
    /// Begin to count anew.
    MeterReset = control::METER_RESET,
    /// Keep who owns it and who used it last.
    DebugOn = control::DEBUG_ON,
    /// No longer.
    DebugOff = control::DEBUG_OFF,
    /// Forget both.
    DebugReset = control::DEBUG_RESET,
    /// Record operations where the arena does.
    HistoryOn = control::HISTORY_ON,
    /// No longer.
    HistoryOff = control::HISTORY_OFF,
    /// Let the owner acquire it again.
    RecursionOn = control::RECURSION_ON,
    /// No longer.
    RecursionOff = control::RECURSION_OFF,
}

/// A token that is given back when this is dropped.
#[derive(Debug)]
#[must_use = "the token is given back at once"]
pub struct Guard(Semaphore);

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        let _ = self.0.v(); // freed meanwhile: there is nothing to give back to
    }
}

/// All semaphores of all arenas of the machine.
pub fn all() -> impl Iterator<Item = SemaStatus> {
    let mut last = 0;
    core::iter::from_fn(move || {
        let mut status = SemaStatus::default();
        let place = (&raw mut status).expose_provenance() as u64;
        // SAFETY: the place is this function's.
        last = Errno::from_return(unsafe { raw::sema_next(last, place) }).ok()?;
        Some(status)
    })
}
