//! Waiting on words in memory: the primitive under every lock of the C library and of Rust's.
//!
//! The queues, and why no wake-up is lost, are `kcore::futex`'s; here are their lock, the words and the blocking. A
//! waiter joins its queue, looks at the word, and then blocks. If it finds another value it takes itself out; if a
//! waker was faster and took it out already, that wake-up has been spent on it, and it says so by returning 0. A waiter
//! that is still queued when it comes back was not woken: its time is over, or it is to end.
//!
//! **Which word is meant.** A private word is known by its address and its address space, that is by the page table that
//! translates the one to the other, and which stays so long as one of its LWPs waits. A word of memory that
//! processes share is known by its frame, of which the waiter holds a reference: so long as it waits, no other word gets
//! that name, whatever is unmapped meanwhile. (A waiter that was moved to a shared word holds no reference of that one:
//! its movers must keep it mapped.)

use super::{Lwp, table};
use crate::arch::clock;
use crate::cpu::{self, Here};
use crate::mm::frames::Frame;
use crate::mm::layout::PAGE_SIZE;
use crate::mm::user::copy_in;
use crate::proc::current_space;
use crate::sched;
use crate::sync::{Lock, Rank};
use core::sync::atomic::Ordering::Relaxed;
use kcore::futex::{ANY, Key, Waiter, Waiters, Waiting};
use kcore::sched::Slot;
use syscalls::Errno;

static WAITING: Lock<Waiting> = Lock::new(Rank::Futex, Waiting::new());

/// The waiters lie in the LWPs.
struct LwpWaiters;

impl Waiters for LwpWaiters {
    fn waiter(&self, slot: Slot) -> &Waiter {
        &table::lwp(slot).futex
    }
}

/// A word of the running program.
pub(crate) struct Word {
    address: u64,
    key: Key,
    /// Keeps a shared word what it is.
    _frame: Option<Frame>,
}

impl Word {
    /// A word that the LWPs of one address space use.
    #[inline]
    pub(crate) fn private(address: u64) -> Self {
        let space = Here::get().root.load(Relaxed);
        Word { address, key: Key { space, address }, _frame: None }
    }

    /// A word that other processes may use too, if it is in memory that they share. ENOMEM: there are too many waiters.
    pub(crate) fn shared(address: u64) -> Result<Self, Errno> {
        let Some(frame) = current_space().shared_frame(address)? else { return Ok(Word::private(address)) };
        let physical = frame.address() + address % PAGE_SIZE;
        // No page table is at 0.
        Ok(Word { address, key: Key { space: 0, address: physical }, _frame: Some(frame) })
    }
}

/// Takes a waiter out of its queue; false where a waker was faster.
fn leave(lwp: &Lwp) -> bool {
    WAITING.lock().leave(&LwpWaiters, lwp.slot)
}

/// Waits on `word` while it is `expected`, for wake-ups that share a bit with `bits`, until the clock reaches
/// `deadline`. EAGAIN: the word is another; EFAULT; ETIMEDOUT; EINTR: the LWP must end.
#[inline(always)]
pub(crate) fn wait(word: &Word, expected: u32, bits: u32, deadline: Option<u64>) -> Result<(), Errno> {
    let lwp = Here::get().lwp();
    WAITING.lock().join(&LwpWaiters, lwp.slot, word.key, bits);
    let refused = match copy_in::<u32>(word.address) {
        Ok(found) if found == expected => None,
        Ok(_) => Some(Errno::EAGAIN),
        Err(errno) => Some(errno),
    };
    if let Some(errno) = refused {
        return if leave(lwp) { Err(errno) } else { Ok(()) };
    }
    loop {
        sched::block_until(deadline);
        if lwp.futex.is_woken() {
            return Ok(());
        }
        let over = deadline.is_some_and(|deadline| clock() >= deadline);
        if (over || lwp.is_killed()) && leave(lwp) {
            return Err(if over { Errno::ETIMEDOUT } else { Errno::EINTR });
        }
    }
}

/// Wakes at most `count` waiters of `word` that share a bit with `bits`, the longest-waiting first; returns how many.
#[inline]
pub(crate) fn wake(word: &Word, count: u32, bits: u32) -> u64 {
    match count {
        1 => u64::from(wake_first(word.key, bits)),
        _ => wake_some(word.key, count, bits),
    }
}

#[inline(never)]
fn wake_some(key: Key, count: u32, bits: u32) -> u64 {
    const WOKEN_AT_ONCE: u64 = 32;
    let mut woken = 0;
    while woken < u64::from(count) && wake_first(key, bits) {
        woken += 1;
        if woken.is_multiple_of(WOKEN_AT_ONCE) {
            cpu::window();
        }
    }
    woken
}

/// Wakes the longest-waiting of those who wait at `key` and share a bit with `bits`, if there is one.
fn wake_first(key: Key, bits: u32) -> bool {
    let first = WAITING.lock().take_first(&LwpWaiters, key, bits);
    first.is_some_and(|slot| {
        sched::wake(table::lwp(slot));
        true
    })
}

/// Wakes at most `count` waiters of `from` and moves at most `move_count` of the others to `to`, in their order.
/// `expected` is what the word must be, if it matters: else EAGAIN. EFAULT. Returns how many were woken or moved.
pub(crate) fn requeue(
    from: &Word,
    to: &Word,
    count: u32,
    move_count: u32,
    expected: Option<u32>,
) -> Result<u64, Errno> {
    if let Some(expected) = expected
        && copy_in::<u32>(from.address)? != expected
    {
        return Err(Errno::EAGAIN);
    }
    let woken = wake(from, count, ANY);
    let moved = WAITING.lock().requeue(&LwpWaiters, from.key, to.key, move_count as usize);
    Ok(woken + moved as u64)
}
