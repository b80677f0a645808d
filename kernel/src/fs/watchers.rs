//! LWPs that wait for something to happen to a file: the one pattern of waiting there is here.
//!
//! A waiter adds itself and looks under the same lock, blocks without it, and takes itself out afterwards, however its
//! wait ended. Whoever changes the file does it under the lock, and wakes all who are on the list: they look again. So
//! no change is missed, and one that is killed takes nothing from the others.

use crate::proc::Lwp;
use crate::sched;
use alloc::vec::Vec;
use syscalls::Errno;

/// Who waits. Inside the lock of what is waited for.
pub(super) struct Watchers(Vec<&'static Lwp>);

impl Watchers {
    /// Nobody.
    pub(super) const fn new() -> Self {
        Watchers(Vec::new())
    }

    /// Adds an LWP; once for each [`Watchers::remove`]. ENOMEM.
    pub(super) fn add(&mut self, lwp: &'static Lwp) -> Result<(), Errno> {
        self.0.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.0.push(lwp);
        Ok(())
    }

    /// Takes an LWP out, if it is there.
    pub(super) fn remove(&mut self, lwp: &'static Lwp) {
        if let Some(at) = self.0.iter().position(|watcher| core::ptr::eq(*watcher, lwp)) {
            self.0.swap_remove(at);
        }
    }

    /// Wakes all.
    pub(super) fn wake_all(&self) {
        self.0.iter().copied().for_each(sched::wake);
    }
}
