//! Waiting on words in memory: the primitive under every lock of the C library and of Rust's.
//!
//! **Problem.** "Sleep if the word still is `expected`" must not lose a wake-up that comes between the look and the
//! sleep, and no lock may be held while user memory is read. **Answer.** A waiter first joins the queue, then looks at
//! the word, then blocks. A waker changes the word before it looks at the queue. So either the waiter sees the new
//! word, or the waker finds it in the queue. A waiter that finds another value takes itself out; if a waker was faster
//! and took it out already, that wake-up has been spent on it, and it says so by returning 0.
//!
//! The queues, by key and first come first served, are under one lock. A wake-up takes the waiter out of its queue under
//! that lock, so each goes to one waiter only, and a waiter that is still queued when it comes back was not woken: its
//! time is over, or it was killed. One lock, not one a bucket, because a requeue moves a waiter between two buckets, and
//! nobody may see it in neither.

use crate::arch::clock;
use crate::cpu::Here;
use crate::mm::user::copy_in;
use crate::proc::Lwp;
use crate::sched;
use crate::sync::{Lock, Rank};
use alloc::vec::Vec;
use syscalls::Errno;

/// What is waited on: a word of an address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    space: usize,
    word: u64,
}

impl Key {
    /// The word at `word` of the running program.
    pub(crate) fn private(word: u64) -> Self {
        Key { space: core::ptr::from_ref(crate::proc::current_space()).addr(), word }
    }

    fn bucket(self) -> usize {
        let mixed = (self.word ^ self.space as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 56) as usize % BUCKETS
    }
}

#[derive(Clone, Copy)]
struct Waiter {
    key: Key,
    lwp: &'static Lwp,
    bits: u32,
}

const BUCKETS: usize = 256;

static QUEUES: Lock<[Vec<Waiter>; BUCKETS]> = Lock::new(Rank::Futex, [const { Vec::new() }; BUCKETS]);

fn join(waiter: Waiter) -> Result<(), Errno> {
    let queue = &mut QUEUES.lock()[waiter.key.bucket()];
    queue.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
    queue.push(waiter);
    waiter.lwp.futex.set(Some(waiter.key));
    Ok(())
}

/// Takes a waiter out of its queue; false where a waker was faster.
fn leave(lwp: &'static Lwp) -> bool {
    let mut queues = QUEUES.lock();
    let Some(key) = lwp.futex.take() else { return false };
    queues[key.bucket()].retain(|waiter| !core::ptr::eq(waiter.lwp, lwp));
    true
}

fn is_queued(lwp: &Lwp) -> bool {
    let _queues = QUEUES.lock();
    lwp.futex.get().is_some()
}

/// Waits on `key` while the word at `address` is `expected`, for wake-ups that share a bit with `bits`, until the clock
/// reaches `deadline`. 0; EAGAIN: the word is another; EFAULT; ETIMEDOUT; EINTR: the LWP must end; ENOMEM.
pub(crate) fn wait(
    key: Key,
    address: u64,
    expected: u32,
    bits: u32,
    deadline: Option<u64>,
) -> Result<u64, Errno> {
    let lwp = Here::get().lwp();
    join(Waiter { key, lwp, bits })?;
    match copy_in::<u32>(address) {
        Ok(word) if word == expected => {}
        Ok(_) => return if leave(lwp) { Err(Errno::EAGAIN) } else { Ok(0) },
        Err(errno) => return if leave(lwp) { Err(errno) } else { Ok(0) },
    }
    loop {
        match deadline {
            Some(deadline) => sched::sleep_until(deadline),
            None => sched::block(),
        }
        if !is_queued(lwp) {
            return Ok(0);
        }
        let over = deadline.is_some_and(|deadline| clock() >= deadline);
        if (over || lwp.is_killed()) && leave(lwp) {
            return Err(if over { Errno::ETIMEDOUT } else { Errno::EINTR });
        }
    }
}

/// Wakes at most `count` waiters of `key` that share a bit with `bits`, the longest-waiting first; returns how many.
pub(crate) fn wake(key: Key, count: u32, bits: u32) -> u64 {
    let mut woken = 0;
    while woken < u64::from(count) {
        let Some(lwp) = take_first(key, bits) else { break };
        sched::wake(lwp);
        woken += 1;
    }
    woken
}

fn take_first(key: Key, bits: u32) -> Option<&'static Lwp> {
    let queue = &mut QUEUES.lock()[key.bucket()];
    let at = queue.iter().position(|waiter| waiter.key == key && waiter.bits & bits != 0)?;
    let lwp = queue.remove(at).lwp;
    lwp.futex.set(None);
    Some(lwp)
}

/// Wakes at most `count` waiters of `from` and moves at most `move_count` of the others to `to`, in their order.
/// `only_if` names a word that must have a value, else EAGAIN. Returns how many were woken or moved.
pub(crate) fn requeue(
    from: Key,
    to: Key,
    count: u32,
    move_count: u32,
    only_if: Option<(u64, u32)>,
) -> Result<u64, Errno> {
    if let Some((address, expected)) = only_if
        && copy_in::<u32>(address)? != expected
    {
        return Err(Errno::EAGAIN);
    }
    let woken = wake(from, count, u32::MAX);
    let mut queues = QUEUES.lock();
    let mut moved = 0;
    while moved < u64::from(move_count) && from != to {
        let Some(at) = queues[from.bucket()].iter().position(|waiter| waiter.key == from) else { break };
        queues[to.bucket()].try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        let waiter = queues[from.bucket()].remove(at);
        waiter.lwp.futex.set(Some(to));
        queues[to.bucket()].push(Waiter { key: to, ..waiter });
        moved += 1;
    }
    Ok(woken + moved)
}
