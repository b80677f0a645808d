//! Semaphores to wait at: musl's own, and one by the same algorithm without the hundred rounds in which musl's waits actively
//! before it sleeps. On one CPU those are some 1 090 instructions of each wait, which no kernel can shorten. A figure of
//! the one is not to be compared with one of the other.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

use programs::futex::{WAIT_PRIVATE, WAKE_PRIVATE};
use userlib::raw;

/// Counts, and lets those wait who find it at zero.
pub(crate) trait Counting: Sync {
    /// V.
    fn post(&self);
    /// P.
    fn wait(&self);
}

unsafe extern "C" {
    fn sem_init(semaphore: *mut [u64; 4], shared: c_int, value: c_uint) -> c_int;
    fn sem_post(semaphore: *mut [u64; 4]) -> c_int;
    fn sem_wait(semaphore: *mut [u64; 4]) -> c_int;
}

/// The C library's. It must not be moved.
pub(crate) struct Musl(UnsafeCell<[u64; 4]>);

// SAFETY: what the C library does with a semaphore it may do from any thread.
unsafe impl Sync for Musl {}

impl Musl {
    pub(crate) const fn new() -> Self {
        Musl(UnsafeCell::new([0; 4]))
    }

    /// Makes it private to the process, and zero.
    pub(crate) fn start(&'static self) {
        // SAFETY: nobody waits there; the place is as large as a `sem_t`.
        unsafe { sem_init(self.0.get(), 0, 0) };
    }
}

impl Counting for Musl {
    #[inline]
    fn post(&self) {
        // SAFETY: it was started, and is never moved.
        unsafe { sem_post(self.0.get()) };
    }

    #[inline]
    fn wait(&self) {
        // SAFETY: as above.
        unsafe { sem_wait(self.0.get()) };
    }
}

/// Counts; −1: zero, and somebody may sleep.
pub(crate) struct Semaphore {
    count: AtomicI32,
    waiters: AtomicU32,
}

impl Semaphore {
    pub(crate) const fn new() -> Self {
        Semaphore { count: AtomicI32::new(0), waiters: AtomicU32::new(0) }
    }

    fn address(&self) -> u64 {
        self.count.as_ptr().expose_provenance() as u64
    }
}

impl Counting for Semaphore {
    #[inline]
    fn post(&self) {
        let before = self.count.fetch_update(SeqCst, SeqCst, |count| Some(count.max(0) + 1));
        if before == Ok(-1) || self.waiters.load(SeqCst) > 0 {
            // SAFETY: wakes; nothing of the caller's is written.
            unsafe { raw::futex(self.address(), WAKE_PRIVATE, 1, 0, 0, 0) };
        }
    }

    #[inline]
    fn wait(&self) {
        while self.count.fetch_update(SeqCst, SeqCst, |count| (count > 0).then(|| count - 1)).is_err() {
            self.waiters.fetch_add(1, SeqCst);
            let _ = self.count.compare_exchange(0, -1, SeqCst, SeqCst);
            // SAFETY: the word is this semaphore's; there is no time-out.
            unsafe { raw::futex(self.address(), WAIT_PRIVATE, -1_i32 as u32, 0, 0, 0) };
            self.waiters.fetch_sub(1, SeqCst);
        }
    }
}
