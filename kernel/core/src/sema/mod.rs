//! Counting semaphores that tell what they went through: how often they were taken at once, who waits, who owns them and
//! where in the code, and what happened in which order.
//!
//! **Problem.** With every instrument off, and also with the meter on, an uncontended P or V is a few instructions in
//! user mode; yet no count may be lost, at every moment the figures must agree with each other, and instruments are
//! switched on and off under load. A program may write over whatever it can reach, and must harm only those who share
//! the arena with it.
//!
//! **One word of eight bytes** is all that user mode and the kernel share ([`Word`]). While it is *open*, the count lies
//! there, and user mode works on it. While it is *closed*, the count lies in the kernel, and every operation comes here.
//! It is closed while somebody waits, and while debug record, history or recursion is on. Every operation in the kernel
//! closes the word first, does its work alone, and opens it at the end if it may.
//!
//! **Why no token and no count is lost.** Closing is one exchange: it hands the count over, and with it the account of
//! what user mode did since the opening. V's are counted in the word; P's follow from the count. An operation of user
//! mode either happened before the exchange, and is in the account, or finds the word closed, and comes here. So meters
//! need no more instructions than semaphores without, and can be switched at any moment: that only closes and opens.
//! A look at an open word is one load: the figures made from it are of that moment.
//!
//! **Waiting.** Tokens are there only where nobody waits. A V hands its token to the longest waiting, under the lock: when
//! it returns, that one is out of the queue and of all figures. Whoever waits is taken out exactly once: by a V, by the
//! semaphore's end, or by its own [`Arena::withdraw`] (a time-out, a kill), which says whether it came first. An LWP that ends
//! before its P has returned [passes its token on](Arena::pass_on).
//!
//! **Watched or counted.** With a debug record, a history or recursion a semaphore is *watched*: its word stays closed, and an
//! operation has much to tell. Others only count, metered or not; what they do in the kernel, to wait and to wake, is a way of
//! its own, on which nothing is looked up that only records need. When a waiter runs with its token, that is recorded where
//! [something is](Arena::keeps_wakes), and else needs no lock.
//!
//! **Time** is in ticks. A wait is made nanoseconds when it has ended, a record when it is read.
//!
//! **What programs write** to the word is a claim, bounded when it is read; nothing else that is decided here depends on
//! shared memory. The place of a semaphore is found by a hint in that memory, believed only where the semaphore it names
//! agrees. Lying programs get wrong counts of their own arena.
//!
//! **Memory.** Blocks, places, meters, debug records and history records are charged to the arena's size, also where they lie
//! in kernel memory. The place of a freed semaphore is never another's memory, and is used again only when nothing else is left.
//!
//! **Locking.** One lock for an arena guards everything in it; the word is what others may change meanwhile.
//!
//! **Tried and refused:** a word of 16 bytes with both counters, changed by `cmpxchg16b`: the count and one counter
//! tell the other, the half fits an ordinary compare-and-swap, and every CPU has that. A lock for each semaphore: the
//! references that would keep a semaphore alive while its lock is waited for cost each operation more than the waiting.
//! Opening the word lazily: a semaphore that once had a waiter would stay slow.

mod arena;
mod heap;
mod history;
mod meter;
mod semaphore;
mod slab;
#[cfg(test)]
mod tests;
mod waiter;
mod word;

pub use arena::{Arena, Head, Memory, Status, Ticket};
pub use heap::LINE;
pub use history::{Extent, History, Record};
pub use meter::{Debug, Got, Meter, Reading, User, Waits};
pub use semaphore::{Acquire, Caller, Patience, Withdrawal};
pub use waiter::{Fate, Waiter, Waiters};
pub use word::{Seen, Word};
