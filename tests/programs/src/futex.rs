//! Waiting for a word to change, by the bare call.

use std::sync::atomic::AtomicU32;

use userlib::raw;

/// `FUTEX_WAIT` for the threads of one process.
pub const WAIT_PRIVATE: i32 = 128;

/// `FUTEX_WAKE` for the threads of one process.
pub const WAKE_PRIVATE: i32 = 129;

/// As many as there can be.
pub const ALL: u32 = i32::MAX as u32;

/// Sleeps while the word has this value; may come back sooner.
#[inline]
pub fn wait(word: &AtomicU32, value: u32) {
    // SAFETY: the word outlives the call; there is no time-out.
    unsafe { raw::futex(address(word), WAIT_PRIVATE, value, 0, 0, 0) };
}

/// Wakes at most so many of those that wait.
#[inline]
pub fn wake(word: &AtomicU32, most: u32) {
    // SAFETY: wakes; nothing is written.
    unsafe { raw::futex(address(word), WAKE_PRIVATE, most, 0, 0, 0) };
}

/// Where a word is, as the call takes it.
#[must_use]
pub fn address(word: &AtomicU32) -> u64 {
    word.as_ptr().expose_provenance() as u64
}
