//! Dispatching: who waits for a CPU, and who gets it next.
//!
//! A [`RunQueue`] orders slots by priority and, within one, by arrival; every operation takes the same few
//! instructions however many wait. Decisions are values: [`Turns::after_slice`] says who is next when a slice is over,
//! [`balance`] on which CPU an LWP waits. Who holds the queue's lock then acts on it: one place switches.
//!
//! How an LWP goes to sleep and is woken is [`place`]'s matter.
//!
//! Slots stand for LWPs. What a queue needs in each of them is a [`Link`], which lies in the LWP itself.

pub mod balance;
pub mod credit;
mod decision;
mod nice;
pub mod place;
mod queue;
#[cfg(test)]
mod tests;

pub use crate::list::{Link, Links, Slot};
pub use decision::{AfterSlice, Turns};
pub use nice::Nice;
pub use queue::{Priority, RunQueue};
