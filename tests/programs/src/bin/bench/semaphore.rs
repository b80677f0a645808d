//! A semaphore by musl's algorithm, without the hundred rounds in which musl's own waits actively before it sleeps: on one
//! CPU they are some 1 090 instructions of each wait, which no kernel can shorten. A figure of musl's own is not to be
//! compared with one of this.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

use userlib::raw;

const WAIT_PRIVATE: i32 = 128;
const WAKE_PRIVATE: i32 = 129;

/// Counts; −1: zero, and somebody may sleep.
pub(crate) struct Semaphore {
    count: AtomicI32,
    waiters: AtomicU32,
}

impl Semaphore {
    pub(crate) const fn new() -> Self {
        Semaphore { count: AtomicI32::new(0), waiters: AtomicU32::new(0) }
    }

    /// V.
    #[inline]
    pub(crate) fn post(&self) {
        let before = self.count.fetch_update(SeqCst, SeqCst, |count| Some(count.max(0) + 1));
        if before == Ok(-1) || self.waiters.load(SeqCst) > 0 {
            // SAFETY: wakes; nothing of the caller's is written.
            unsafe { raw::futex(self.address(), WAKE_PRIVATE, 1, 0, 0, 0) };
        }
    }

    /// P.
    #[inline]
    pub(crate) fn wait(&self) {
        while self.count.fetch_update(SeqCst, SeqCst, |count| (count > 0).then(|| count - 1)).is_err() {
            self.waiters.fetch_add(1, SeqCst);
            let _ = self.count.compare_exchange(0, -1, SeqCst, SeqCst);
            // SAFETY: the word is this semaphore's; there is no time-out.
            unsafe { raw::futex(self.address(), WAIT_PRIVATE, -1_i32 as u32, 0, 0, 0) };
            self.waiters.fetch_sub(1, SeqCst);
        }
    }

    fn address(&self) -> u64 {
        self.count.as_ptr().expose_provenance() as u64
    }
}
