//! One total of ticks, closed or open.

use crate::sync::{AtomicU64, Ordering::Relaxed, const_fn};

/// A total: while it is closed its balance is the total, while it is open the total is balance + now.
///
/// The ledger around it says which it is, and its sequence number orders what is written here; hence relaxed loads
/// and stores, which come out as one instruction each.
#[derive(Debug)]
pub(super) struct Account(AtomicU64);

impl Account {
    const_fn! {
        /// A closed account of zero.
        pub(super) fn new() -> Account {
            Account(AtomicU64::new(0))
        }
    }

    /// The balance, modulo 2^64.
    #[inline]
    pub(super) fn balance(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Sets a closed account to zero.
    #[inline]
    pub(super) fn clear(&self) {
        self.0.store(0, Relaxed);
    }

    /// Adds a total, or the stamp at which the account is closed.
    #[inline]
    pub(super) fn add(&self, ticks: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(ticks), Relaxed);
    }

    /// Subtracts a total, or the stamp at which the account is opened.
    #[inline]
    pub(super) fn subtract(&self, ticks: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_sub(ticks), Relaxed);
    }
}
