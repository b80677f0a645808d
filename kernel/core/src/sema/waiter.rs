//! What a semaphore's queue keeps in each LWP, and the queue.

use super::meter::User;
use super::semaphore::Caller;
use crate::list::{Link, Links, Lists, Slot};
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// What became of a waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It waits.
    Waiting,
    /// It was given a token, and is in no queue.
    Granted,
    /// The semaphore is no more, and it is in no queue.
    Expelled,
}

/// What the queue keeps in each slot. Guarded by the arena's lock, but for [`Waiter::fate`].
#[derive(Debug)]
pub struct Waiter {
    link: Link,
    fate: AtomicU32,
    pid: AtomicU32,
    tid: AtomicU32,
    pc: AtomicU64,
    since: AtomicU64,
}

impl Waiter {
    /// One that does not wait.
    #[must_use]
    pub const fn new() -> Waiter {
        Waiter {
            link: Link::new(),
            fate: AtomicU32::new(Fate::Expelled as u32),
            pid: AtomicU32::new(0),
            tid: AtomicU32::new(0),
            pc: AtomicU64::new(0),
            since: AtomicU64::new(0),
        }
    }

    /// What became of it since it was queued. Needs no lock: whoever reads anything but [`Fate::Waiting`] reads it for good.
    #[inline]
    #[must_use]
    pub fn fate(&self) -> Fate {
        match self.fate.load(Acquire) {
            0 => Fate::Waiting,
            1 => Fate::Granted,
            _ => Fate::Expelled,
        }
    }

    #[inline]
    pub(super) fn begin(&self, caller: &Caller, since: u64) {
        self.fate.store(Fate::Waiting as u32, Relaxed);
        self.pid.store(caller.pid, Relaxed);
        self.tid.store(caller.tid, Relaxed);
        self.pc.store(caller.pc, Relaxed);
        self.since.store(since, Relaxed);
    }

    #[inline]
    pub(super) fn grant(&self) {
        self.fate.store(Fate::Granted as u32, Release);
    }

    pub(super) fn expel(&self) {
        self.fate.store(Fate::Expelled as u32, Release);
    }

    #[inline]
    pub(super) fn user(&self) -> User {
        User { pid: self.pid.load(Relaxed), pc: self.pc.load(Relaxed) }
    }

    #[inline]
    pub(super) fn tid(&self) -> u32 {
        self.tid.load(Relaxed)
    }

    /// When it was queued, in ticks; 0: nobody wanted to know.
    pub(super) fn since(&self) -> u64 {
        self.since.load(Relaxed)
    }
}

impl Default for Waiter {
    fn default() -> Waiter {
        Waiter::new()
    }
}

/// Where the slots' waiters are: the same waiter for the same slot, always.
pub trait Waiters {
    /// The waiter of `slot`.
    fn waiter(&self, slot: Slot) -> &Waiter;
}

/// The waiters' links, as the lists want them.
struct WaiterLinks<'a, W>(&'a W);

impl<W: Waiters> Links for WaiterLinks<'_, W> {
    #[inline]
    fn link(&self, slot: Slot) -> &Link {
        &self.0.waiter(slot).link
    }
}

/// Who waits for one semaphore, in the order in which they came.
#[derive(Debug)]
pub(super) struct Queue {
    list: Lists<1>,
    length: u32,
}

impl Queue {
    pub(super) const fn new() -> Queue {
        Queue { list: Lists::new(), length: 0 }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[inline]
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    #[inline]
    pub(super) fn push(&mut self, waiters: &impl Waiters, slot: Slot) {
        self.list.push_back(&WaiterLinks(waiters), slot, 0);
        self.length += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self, waiters: &impl Waiters) -> Option<Slot> {
        let slot = self.list.pop_front(&WaiterLinks(waiters), 0)?;
        self.length -= 1;
        Some(slot)
    }

    /// Takes `slot`, which is in this queue or in none, out; false where it is in none.
    ///
    /// In two steps, for rustc 1.95 forgets to lower the length by what `Lists::remove` returns: see
    /// `tests/harness/tests/compiler.rs`.
    pub(super) fn remove(&mut self, waiters: &impl Waiters, slot: Slot) -> bool {
        if !waiters.waiter(slot).link.is_queued() {
            return false;
        }
        self.list.unlink(&WaiterLinks(waiters), slot, 0);
        self.length -= 1;
        true
    }
}
