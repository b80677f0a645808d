//! Locks, and the order in which they may be taken.
//!
//! **Problem.** Kernel code runs on several CPUs at once and is entered by interrupts. **Rule.** All locks spin and are
//! taken with interrupts off, so a holder is never interrupted or preempted and every critical section is short. A CPU
//! takes locks in rising rank only:
//!
//! `Psets → Family → Process → Descriptors → Signals → Pipe → Futex → ArenaNames → Arena → Console → Dispatcher → Load → Timers → Table`, then those of `mm`:
//! `address space → heap, stacks → kernel tables → frames`
//!
//! Two locks of one rank are never held together. No user memory is touched and nothing sleeps while a lock is held.
//! Debug builds assert all of this through [`HeldLocks`]. **Tried and refused:** sleeping locks; nothing here holds a
//! lock across a wait, so they would only hide a long critical section.

mod held;

pub(crate) use held::HeldLocks;

use crate::cpu::Here;
use crate::debug::perturb::{self, Point};
use core::ops::{Deref, DerefMut};
use spin::RelaxStrategy;
use spin::mutex::SpinMutexGuard;

/// A bare spin lock, for what has no rank: memory and ports. Whoever waits for it serves other CPUs' requests, since the
/// holder may be waiting for just that.
pub(crate) type SpinMutex<T> = spin::mutex::SpinMutex<T, Serve>;

/// What a CPU does while it waits for a lock.
pub(crate) struct Serve;

impl RelaxStrategy for Serve {
    #[cold]
    fn relax() {
        Here::get().counters.spins.add();
        crate::cpu::serve();
        core::hint::spin_loop();
    }
}

/// The place of a lock in the order above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Psets,
    Family,
    Process,
    Descriptors,
    Signals,
    Pipe,
    Futex,
    ArenaNames,
    Arena,
    Console,
    Dispatcher,
    Load,
    Timers,
    Table,
}

/// A spin lock with a rank.
pub(crate) struct Lock<T> {
    rank: Rank,
    inner: SpinMutex<T>,
}

/// The right to use what a [`Lock`] guards. Interrupts stay off while it lives.
pub(crate) struct Guard<'a, T> {
    lock: &'a Lock<T>,
    inner: SpinMutexGuard<'a, T, Serve>,
    _behind: Released,
}

/// The last field of a guard: dropped when the lock is free.
struct Released;

impl Drop for Released {
    #[inline(always)]
    fn drop(&mut self) {
        perturb::point(Point::Released);
    }
}

/// Has debug builds keep what this CPU holds; others need not even find out which CPU it is.
#[inline(always)]
fn note_held(note: impl FnOnce(&HeldLocks)) {
    if cfg!(debug_assertions) {
        note(&Here::get().held);
    }
}

impl<T> Lock<T> {
    pub(crate) const fn new(rank: Rank, value: T) -> Self {
        Lock { rank, inner: SpinMutex::new(value) }
    }

    /// Waits for the lock. Interrupts are off and every lock held here has a lower rank.
    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        note_held(|held| held.push(self.rank));
        Guard { lock: self, inner: self.inner.lock(), _behind: Released }
    }

    /// Takes the lock if it is free. What is to be held, and what not, is as with [`Lock::lock`].
    #[inline(always)]
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let inner = self.inner.try_lock()?;
        note_held(|held| held.push(self.rank));
        Some(Guard { lock: self, inner, _behind: Released })
    }

    /// Releases the lock on behalf of a guard that was forgotten: the dispatcher's, which crosses a switch.
    ///
    /// # Safety
    /// This CPU holds the lock through a guard that [`Guard::hand_over`] gave up, and nothing refers to its content.
    #[inline]
    pub(crate) unsafe fn release_handed_over(&self) {
        note_held(|held| held.pop(self.rank));
        // SAFETY: by the contract the lock is held, and by this CPU.
        unsafe { self.inner.force_unlock() };
    }
}

impl<T> Guard<'_, T> {
    /// Keeps the lock without the guard: the LWP that is switched to will release it.
    pub(crate) fn hand_over(self) {
        core::mem::forget(self);
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        note_held(|held| held.pop(self.lock.rank));
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}
