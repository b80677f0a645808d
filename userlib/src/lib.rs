//! Rust's way to the system calls of tally: safe, typed, `Result` with [`Errno`].
//!
//! A program for tally is an ordinary `x86_64-unknown-linux-musl` program, so `std` does what `std` does. This
//! crate adds what `std` has no words for: whose time is it? It needs no `std` itself.
//!
//! ```no_run
//! let before = userlib::lwp::info()?;
//! let sum: u64 = (0..1_000_000).sum();
//! let used = userlib::lwp::info()? - before;
//! println!("{sum}: {:?} in user mode, {:?} in the kernel", used.user, used.system);
//! # Ok::<(), userlib::Errno>(())
//! ```
//!
//! | module | for |
//! |---|---|
//! | [`lwp`] | an LWP's CPU time and microstates |
//! | [`cpu`] | a CPU's time: user, system, interrupts, idle |
//! | [`process`] | processes: which there are, their time, their children's, their faults and switches; the machine's time |
//! | [`pset`] | processor sets: made, filled, bound to; their load averages |
//! | [`arena`] | memory that processes share at one address, with semaphores in it |
//! | [`semaphore`] | counting semaphores with meter, debug record, history and recursion |
//! | [`clock`] | the clocks, the CPU-time ones of others included |
//! | [`raw`] | every call of the table, as the registers are |
//!
//! On Linux the calls that Linux has work as well; the project's own ones say [`Errno::ENOSYS`].
#![no_std]

pub mod arena;
pub mod clock;
pub mod cpu;
pub mod lwp;
pub mod process;
pub mod pset;
pub mod raw;
pub mod semaphore;

pub use arena::Arena;
pub use semaphore::Semaphore;
pub use syscalls::Errno;

use syscalls::Crossing;

/// Hands `call` the address of a zeroed `T`, which the kernel fills.
fn fetch<T: Crossing>(call: impl FnOnce(u64) -> u64) -> Result<T, Errno> {
    let mut value = T::default();
    Errno::from_return(call((&raw mut value).expose_provenance() as u64))?;
    Ok(value)
}
