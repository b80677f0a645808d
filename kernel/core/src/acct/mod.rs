//! CPU-time accounting: who used which CPU for how long, exact to the tick.
//!
//! # Problem
//! Time is to be charged by stamped transitions, cheaply (a system call crosses twice) and so that sums close
//! exactly: the laws below. And any CPU may ask about an LWP that runs on another one, at any moment, without
//! stopping or slowing it.
//!
//! # Accounts
//! A total is an *account*. Opening it at `t` subtracts `t`, closing it at `t` adds `t`; an open
//! account is read as its balance plus `now`. No start stamp is kept, and a transition at `t` is `+t` here and `-t`
//! there: a sum over accounts cannot change by it, whatever `t` is. Balances wrap modulo 2^64, readings do not: a
//! total has room for 97 years of a CPU at 6 GHz.
//!
//! - A CPU ([`CpuLedger`]) has the accounts user, system, irq and idle; exactly one is open, and which one is its
//!   state. `up` is open from the start on. Balances of the four always sum to that of `up`: **law 1**.
//! - An LWP ([`LwpLedger`]) off the CPUs has one of runnable, sleeping, stopped open; `lifetime` is open from birth
//!   to end. On a CPU none of its own is open: it is *docked*. At dispatch the CPU's totals of user, system and irq
//!   are subtracted from the LWP's user, system and runnable, when it leaves they are added; in between it is read
//!   as its balance plus the CPU's total. So a crossing writes the CPU's ledger only, and what all LWPs gained is
//!   what all CPUs counted: **law 3**. While docked the CPU is never idle, so the LWP's sum grows with the clock:
//!   **law 2**. An interrupt is the CPU's time; the LWP that it holds up waits for its CPU meanwhile, which is
//!   runnable time.
//! - A switch closes, undocks, docks and opens with one stamp ([`switch`]).
//!
//! # Reading across CPUs
//! Each ledger has a sequence number, odd while it is written. Its writers exclude each other: a CPU's ledger is
//! written by that CPU with interrupts off, an LWP's by the holder of its run queue's lock. A reader takes number,
//! figures, clock, and the number again; it accepts where the number was even and is unchanged. For an LWP on a CPU
//! both ledgers' windows enclose the reading.
//!
//! *Never torn*: the writer's odd number precedes its figures (release fence), the closing even number follows them
//! (release store); the reader's first look acquires, and an acquire fence precedes its second. Figures of two
//! transitions cannot be accepted together.
//!
//! *Never decreasing* (**law 4**), *up to the moment* (**law 5**): let the clock agree with the order of events: if
//! one reading is finished before another begins, on whichever CPUs, it is not larger. An accepted reader
//! 1. began after the last writer closed, whose stamp had been taken before: `now` is at least that stamp, so an
//!    open account's `balance + now` is not short of what was booked;
//! 2. looked at the number a second time, after taking `now`, and did not see the next writer's odd number. That
//!    writer makes it visible to all CPUs (a locked instruction, a full barrier) *before* it takes its stamp. So
//!    the reader's `now` precedes that stamp: it was promised no time that the writer did not book.
//!
//! Within one state a reading grows with `now`; by 1 and 2 it also does across a transition.
//!
//! # What the clock owes
//! Every function that stamps takes the clock as a closure, for it must be read inside the window. On x86-64 it is
//! `lfence; rdtsc`, and for readers another `lfence` behind it: the locked instruction and the loads before must be
//! done when the counter is read, and the counter must be read before the loads behind. Counters of all CPUs must
//! run in step; kernels whose counters do not correct them in the closure. (In one `asm!`: where the target has no
//! SSE, `_mm_lfence` is a call.)
//!
//! # Refused
//! *A stamp and a state per LWP, written at each crossing*: twice the stores in the hottest path, and law 3 would
//! depend on both ledgers being stamped alike. *Clamping at zero where the clock runs backwards*: hides a broken
//! clock and breaks law 3. *A lock for readers*: a reader could hold up its target.

mod account;
mod cpu;
pub mod laws;
mod lwp;
mod read;
mod sequence;
mod switch;
#[cfg(test)]
mod tests;
mod totals;

pub use cpu::{CpuLedger, CpuState, CpuTicks, Layout};
pub use lwp::{LwpLedger, LwpState, Microstates, OffCpu};
pub use read::{read_any, read_cpu, read_lwp, read_own, read_usage};
pub use switch::switch;
pub use totals::{MachineLedger, ProcessLedger, Usage};
