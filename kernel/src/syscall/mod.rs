//! System calls: from the entry code to a handler and back.
//!
//! The table of the `syscalls` crate makes the dispatcher: a row without a handler of its name, or with arguments of
//! other kinds, does not compile. A handler decodes and checks everything, then acts; nothing can fail after its first
//! effect. Its error becomes a negative number in [`encode`] and nowhere else.

mod account;
mod arena;
mod clone;
mod cpus;
mod file;
mod identity;
mod memory;
mod misc;
mod pipe;
mod pointer;
mod poll;
mod priority;
mod process;
mod pset;
mod semaphore;
mod signal;
mod thread;
mod time;
mod trace;

pub(crate) use thread::clear_and_wake;
pub(crate) use trace::enter_traced;

use crate::arch::{Frame, clone_with_registers, fork_with_registers, vfork_with_registers};
use crate::cpu::Here;
use crate::debug::{self, stretch};
use crate::{sched, sema};
use syscalls::{Errno, OWN_CALLS, for_each_syscall};

/// What a handler returns.
type Result<T = u64> = core::result::Result<T, Errno>;

/// Argument kinds of the table.
type Address = u64;
type Int = i32;
type Unsigned = u32;
type Size = u64;
type Long = i64;

/// How an argument is read from its register.
trait Argument {
    fn from_register(value: u64) -> Self;
}

macro_rules! arguments {
    ($($kind:ty),*) => { $(impl Argument for $kind {
        #[inline(always)]
        fn from_register(value: u64) -> Self {
            value as $kind // C passes narrow arguments in the low bits
        }
    })* };
}
arguments!(u64, i32, u32, i64);

/// A system call, for the entry code: from the registers of the call to what goes into `rax`.
type Call = unsafe extern "sysv64" fn(&Frame) -> u64;

/// One that wants nothing saved before.
type SafeCall = extern "sysv64" fn(&Frame) -> u64;

/// The calls that Linux numbers, and ours, each at its number from the first of its kind on.
pub(crate) const LINUX_CALLS: usize = 512;
pub(crate) const OUR_CALLS: usize = 128;

macro_rules! dispatcher {
    ($($(#[$doc:meta])* $number:literal $name:ident($($arg:ident: $kind:ident),*);)*) => {
        /// One function a row: arguments from registers, then the handler, then its result made ready.
        mod row {
            use super::*;
            $(#[allow(unused_mut, unused_variables, unused_assignments)] // rows without arguments
            #[inline(always)]
            pub(super) fn $name(frame: &Frame) -> u64 {
                let registers = frame.arguments();
                let mut next = 0;
                $(let $arg = <$kind as Argument>::from_register(registers[next]); next += 1;)*
                encode(super::handler::$name($($arg),*))
            })*
        }

        /// The same, as the entry code calls it between its two stamps.
        mod call {
            use super::*;
            $(pub(super) extern "sysv64" fn $name(frame: &Frame) -> u64 {
                stretch::of_call($number, || row::$name(frame))
            })*
        }

        /// Every call, by its number.
        const CALLS: &[(usize, SafeCall)] = &[$(($number, call::$name)),*];
    };
}
for_each_syscall!(dispatcher);

/// A call by its number, for the tracer. Through the same functions, which so are the only callers of their handlers and
/// have them as parts.
fn dispatch(frame: &Frame) -> u64 {
    let number = frame.error as usize;
    let call = CALLS.iter().find(|(of, _)| *of == number).map_or(unknown as SafeCall, |(_, call)| *call);
    call(frame)
}

/// Read by the entry code.
pub(crate) static LINUX: [Call; LINUX_CALLS] = {
    let mut table = table(0);
    table[syscalls::number::clone] = clone_with_registers;
    table[syscalls::number::fork] = fork_with_registers;
    table[syscalls::number::vfork] = vfork_with_registers;
    table
};

/// Read by the entry code.
pub(crate) static OURS: [Call; OUR_CALLS] = table(OWN_CALLS);

/// The calls with numbers from `first` on, each at its place.
const fn table<const COUNT: usize>(first: usize) -> [Call; COUNT] {
    let mut table = [unknown as Call; COUNT];
    let mut index = 0;
    while index < CALLS.len() {
        let (number, call) = CALLS[index];
        assert!(
            number < LINUX_CALLS || number >= OWN_CALLS && number < OWN_CALLS + OUR_CALLS,
            "no table has this number"
        );
        if number >= first && number < first + COUNT {
            table[number - first] = call;
        }
        index += 1;
    }
    table
}

/// All handlers, by the names of the table.
mod handler {
    pub(super) use super::account::*;
    pub(super) use super::arena::*;
    pub(super) use super::clone::*;
    pub(super) use super::cpus::*;
    pub(super) use super::file::*;
    pub(super) use super::identity::*;
    pub(super) use super::memory::*;
    pub(super) use super::misc::*;
    pub(super) use super::pipe::*;
    pub(super) use super::poll::*;
    pub(super) use super::priority::*;
    pub(super) use super::process::*;
    pub(super) use super::pset::*;
    pub(super) use super::semaphore::*;
    pub(super) use super::signal::*;
    pub(super) use super::thread::*;
    pub(super) use super::time::*;
}

/// What the table holds where there is no row.
pub(crate) extern "sysv64" fn unknown(frame: &Frame) -> u64 {
    encode(debug::call(frame.error, frame.arguments()))
}

/// `clone`, for the entry code to go on with when it has saved all registers.
pub(crate) extern "sysv64" fn clone_call(frame: &Frame) -> u64 {
    call::clone(frame)
}

/// `fork`, likewise.
pub(crate) extern "sysv64" fn fork_call(frame: &Frame) -> u64 {
    call::fork(frame)
}

/// `vfork`, likewise.
pub(crate) extern "sysv64" fn vfork_call(frame: &Frame) -> u64 {
    call::vfork(frame)
}

/// Does what this CPU was asked to do before it returns to user mode. For the entry code, which passes the result of
/// the call and gets it back.
pub(crate) extern "sysv64" fn attend(result: u64) -> u64 {
    let lwp = Here::get().lwp();
    // SAFETY: the frame of the call that returns lies there, and nobody writes to it.
    let call = unsafe { (*lwp.entry_frame()).error };
    sema::on_the_way_out(lwp, call, result);
    sched::attend(Here::get());
    lwp.carries_token.set(false);
    stretch::end();
    result
}

/// The one place where an error becomes a negative number.
#[inline(always)]
fn encode(result: Result) -> u64 {
    match result {
        Ok(value) => value,
        Err(errno) => u64::from(errno.code()).wrapping_neg(),
    }
}
