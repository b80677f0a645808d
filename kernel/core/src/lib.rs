//! The hardware-free half of tally: states, ledgers, queues and decisions, with time as an argument.
#![cfg_attr(not(any(test, feature = "loom")), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod acct;
pub mod calendar;
pub mod clock;
pub mod clock_id;
pub mod console;
pub mod ids;
pub mod image;
pub mod memory_map;
pub mod range;
pub mod region;
pub mod sched;
pub mod signal;
pub mod stack;
mod sync;
pub mod timers;
