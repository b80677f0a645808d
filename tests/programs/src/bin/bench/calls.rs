//! System calls, made inline: the operation is the load of the number and `syscall`.

use std::arch::asm;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use userlib::Errno;
use userlib::clock::Clock;
use userlib::lwp::{self, LwpId};

use crate::measure::{BATCH, Outcome, batches};

/// A batch around one instruction sequence: its ticks, and what the last call returned. Between the two readings of
/// the counter stand the sequence, `dec` and `jnz`, and a few instructions that are always the same.
macro_rules! call_loop {
    ($($operation:literal),*; $rounds:expr, $number:expr, $first:expr, $second:expr $(, $third:expr)?) => {{
        let (before, after, result): (u64, u64, u64);
        // SAFETY: the caller of the function around this answers for the call's arguments; the kernel keeps all
        // registers but the three named.
        unsafe {
            asm!(
                "lfence",
                "rdtsc",
                "shl rdx, 32",
                "or rdx, rax",
                "mov {before}, rdx",
                "2:",
                $($operation,)*
                "dec {left}",
                "jnz 2b",
                "mov {result}, rax",
                "lfence",
                "rdtsc",
                "shl rdx, 32",
                "or rdx, rax",
                before = out(reg) before,
                result = out(reg) result,
                left = inout(reg) $rounds => _,
                number = in(reg) $number,
                in("rdi") $first,
                in("rsi") $second,
                $(third = in(reg) $third,)?
                out("rdx") after,
                out("rax") _,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
        (after - before, result)
    }};
}

/// One call so many times; ticks, and what the last one returned.
///
/// # Safety
/// The arguments are good for the call.
#[inline(never)]
pub(crate) unsafe fn calls(rounds: u64, number: u64, first: u64, second: u64) -> (u64, u64) {
    call_loop!("mov eax, {number:e}", "syscall"; rounds, number, first, second)
}

/// The same with a third argument, whose load is an instruction of the operation's.
///
/// # Safety
/// The arguments are good for the call.
#[inline(never)]
pub(crate) unsafe fn calls_with_third(rounds: u64, number: u64, arguments: [u64; 3]) -> (u64, u64) {
    let [first, second, third] = arguments;
    call_loop!("mov rdx, {third}", "mov eax, {number:e}", "syscall"; rounds, number, first, second, third)
}

/// The loop of a batch without the operation.
#[inline(never)]
pub(crate) fn empty() -> u64 {
    call_loop!("/* {number} */"; BATCH, 0_u64, 0_u64, 0_u64).0
}

/// Measures a call that must succeed.
///
/// # Safety
/// The arguments are good for the call.
unsafe fn row(number: usize, first: u64, second: u64) -> Outcome {
    let mut failed = None;
    let figure = batches(
        || {
            // SAFETY: handed on to the caller.
            let (ticks, result) = unsafe { calls(BATCH, number as u64, first, second) };
            failed = failed.or(Errno::from_return(result).err());
            ticks
        },
        empty,
    );
    failed.map_or(Ok(figure), |errno| Err(errno.to_string()))
}

pub(crate) fn null_syscall() -> Outcome {
    // SAFETY: no arguments.
    unsafe { row(syscalls::number::getppid, 0, 0) }
}

pub(crate) fn lwp_info() -> Outcome {
    let mut info = syscalls::LwpInfo::default();
    // SAFETY: the argument is the address of the structure that the call fills.
    unsafe { row(syscalls::number::lwp_info, address(&mut info), 0) }
}

pub(crate) fn clock_monotonic() -> Outcome {
    let mut time = syscalls::TimeSpec::default();
    // SAFETY: the second argument is the address of the structure that the call fills.
    unsafe { row(syscalls::number::clock_gettime, Clock::MONOTONIC.raw() as u64, address(&mut time)) }
}

/// Another LWP of this process, which sleeps in a futex all the while.
pub(crate) fn thread_cputime_other() -> Outcome {
    let (tell, told) = mpsc::channel();
    let other = thread::spawn(move || {
        tell.send(lwp::current()).expect("the other side waits");
        thread::park();
    });
    let tid = told.recv().expect("the thread tells its id");
    wait_until_asleep(tid);
    let mut time = syscalls::ThreadCputime::default();
    // SAFETY: the second argument is the address of the structure that the call fills.
    let outcome = unsafe { row(syscalls::number::thread_cputime, tid.raw() as u64, address(&mut time)) };
    other.thread().unpark();
    other.join().expect("the thread ends well");
    outcome
}

/// Until the LWP's CPU time stands still. (Where the call is missing there is nothing to wait for.)
fn wait_until_asleep(tid: LwpId) {
    loop {
        let before = lwp::cputime(tid);
        thread::sleep(Duration::from_millis(10));
        if lwp::cputime(tid) == before {
            return;
        }
    }
}

/// Where a place for the kernel's answer is.
fn address<T>(place: &mut T) -> u64 {
    (&raw mut *place).expose_provenance() as u64
}
