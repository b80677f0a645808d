//! Dispatching: who waits for a CPU, and who gets it next.
//!
//! A [`RunQueue`] orders slots by priority and, within one, by arrival; every operation takes the same few
//! instructions however many wait. [`decide`] looks at a queue and says what its CPU is to do, as a value; it
//! changes nothing. Who holds the queue's lock then acts on it: one place switches.
//!
//! Slots stand for LWPs. What a queue needs in each of them is a [`Link`], which lies in the LWP itself.

pub mod balance;
pub mod credit;
mod decision;
mod queue;
#[cfg(test)]
mod tests;

pub use crate::list::{Link, Links, Slot};
pub use decision::{Reason, Switch, decide, slice_end};
pub use queue::{Priority, RunQueue};
