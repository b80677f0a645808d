//! System calls: from the entry code to a handler and back.
//!
//! The table of the `syscalls` crate makes the dispatcher: a row without a handler of its name, or with arguments of
//! other kinds, does not compile. A handler decodes and checks everything, then acts; nothing can fail after its first
//! effect. Its error becomes a negative number in [`encode`] and nowhere else.

mod account;
mod file;
mod identity;
mod memory;
mod misc;
mod pointer;
mod poll;
mod signal;
mod thread;
mod time;
mod trace;

pub(crate) use thread::clear_and_wake;
pub(crate) use trace::enter_traced;

use crate::arch::{Frame, clock};
use crate::cpu::Here;
use crate::sched;
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

type Handler = fn(&Frame) -> Result;

/// The calls that Linux numbers, and ours, each at its number from the first of its kind on.
const LINUX_CALLS: usize = 512;
const OUR_CALLS: usize = 64;

fn unknown(_: &Frame) -> Result {
    Err(Errno::ENOSYS)
}

macro_rules! dispatcher {
    ($($(#[$doc:meta])* $number:literal $name:ident($($arg:ident: $kind:ident),*);)*) => {
        /// One function a row: arguments from registers, then the handler.
        mod row {
            use super::*;
            $(#[allow(unused_mut, unused_variables, unused_assignments)] // rows without arguments
            pub(super) fn $name(frame: &Frame) -> Result {
                let registers = frame.arguments();
                let mut next = 0;
                $(let $arg = <$kind as Argument>::from_register(registers[next]); next += 1;)*
                super::handler::$name($($arg),*)
            })*
        }

        static LINUX: [Handler; LINUX_CALLS] = {
            let mut table = [unknown as Handler; LINUX_CALLS];
            $(if $number < OWN_CALLS { table[$number] = row::$name; })*
            table
        };
        static OURS: [Handler; OUR_CALLS] = {
            let mut table = [unknown as Handler; OUR_CALLS];
            $(if $number >= OWN_CALLS { table[$number - OWN_CALLS] = row::$name; })*
            table
        };
    };
}
for_each_syscall!(dispatcher);

/// All handlers, by the names of the table.
mod handler {
    pub(super) use super::account::*;
    pub(super) use super::file::*;
    pub(super) use super::identity::*;
    pub(super) use super::memory::*;
    pub(super) use super::misc::*;
    pub(super) use super::poll::*;
    pub(super) use super::signal::*;
    pub(super) use super::thread::*;
    pub(super) use super::time::*;
}

/// Called by the entry code with interrupts off; returns what goes into `rax`.
pub(crate) extern "sysv64" fn enter(frame: &mut Frame) -> u64 {
    Here::get().ledger.enter_system(clock);
    let result = encode(dispatch(frame));
    leave();
    result
}

#[inline(always)]
fn dispatch(frame: &Frame) -> Result {
    let number = frame.error as usize;
    let handler = LINUX.get(number).or_else(|| OURS.get(number.wrapping_sub(OWN_CALLS)));
    handler.map_or(Err(Errno::ENOSYS), |handler| handler(frame))
}

/// The way out: what this CPU was asked to look at, then the last stamp.
#[inline(always)]
fn leave() {
    let here = Here::get();
    if here.wants_attention() {
        sched::attend(here);
    }
    Here::get().ledger.enter_user(clock);
}

/// The one place where an error becomes a negative number.
#[inline(always)]
fn encode(result: Result) -> u64 {
    match result {
        Ok(value) => value,
        Err(errno) => u64::from(errno.code()).wrapping_neg(),
    }
}
