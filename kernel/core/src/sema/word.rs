//! The one word that user mode and the kernel share, and the account of what user mode did with it.
//!
//! An open word holds the count in its upper half and, in its lower half, how many V's it saw since it was opened. So
//! P and V in user mode are one compare-and-swap each, and both are counted: the V's are there, and the P's are what
//! must have happened for the count to be what it is. With the meter on or off the instructions are the same.
//!
//! **The counter never wraps.** A P is refused where the counter has reached 2^31 ([`TIRED`]), and goes to the kernel,
//! which opens the word anew; after the last P that was not, there can be fewer than 2^31 V's, since the count, which
//! each of them raises, ends below that. A word that is not open is negative, whatever a P or a V adds to it.

use crate::sync::{AtomicU64, Ordering, const_fn};
use syscalls::sema::{CLOSED, MOST_TOKENS, ONE, TIRED};

/// The shared word of a semaphore. Programs may write to it whatever they like: what is read from it is a claim of
/// theirs, true for those that use the library, and any value makes a valid [`Seen`].
#[derive(Debug)]
#[repr(transparent)]
pub struct Word(AtomicU64);

/// What an open word said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The count, at most [`MOST_TOKENS`].
    pub tokens: u32,
    /// V's since the word was opened.
    pub releases: u32,
}

impl Seen {
    fn from_word(word: u64) -> Seen {
        Seen { tokens: (word >> 32) as u32 & MOST_TOKENS, releases: word as u32 }
    }

    /// How many P's there were since the word was opened with `tokens`; never negative, also where a program lied.
    #[must_use]
    pub fn acquires(self, tokens: u32) -> u64 {
        (u64::from(tokens) + u64::from(self.releases)).saturating_sub(u64::from(self.tokens))
    }
}

impl Word {
    const_fn! {
        /// A word that sends everyone to the kernel.
        pub fn new() -> Word {
            Word(AtomicU64::new(CLOSED))
        }
    }

    /// Lets user mode have `tokens`, at most [`MOST_TOKENS`], from now on. Under the semaphore's lock.
    #[inline]
    pub fn open(&self, tokens: u32) {
        self.0.store(u64::from(tokens) << 32, Ordering::Release);
    }

    /// Sends everyone to the kernel from now on, and says what an open word said last. Under the semaphore's lock.
    #[inline]
    pub fn close(&self) -> Seen {
        Seen::from_word(self.0.swap(CLOSED, Ordering::AcqRel))
    }

    /// What an open word says at this moment.
    #[inline]
    #[must_use]
    pub fn look(&self) -> Seen {
        Seen::from_word(self.0.load(Ordering::Acquire))
    }

    #[cfg(all(test, not(feature = "loom")))]
    pub(super) fn scribble(&self, bits: u64) {
        self.0.store(bits, Ordering::Relaxed);
    }

    /// P as the user library does it; false: the kernel must be asked.
    ///
    /// This and [`Word::try_release`] are the library's instructions in Rust, for those who prove the protocol.
    pub fn try_acquire(&self) -> bool {
        let mut old = self.0.load(Ordering::Relaxed);
        loop {
            let new = old.wrapping_sub(ONE);
            if new >> 63 != 0 || old & TIRED != 0 {
                return false;
            }
            match self.0.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => old = found,
            }
        }
    }

    /// V as the user library does it; false: the kernel must be asked.
    pub fn try_release(&self) -> bool {
        let mut old = self.0.load(Ordering::Relaxed);
        loop {
            let new = old.wrapping_add(ONE + 1);
            if new >> 63 != 0 {
                return false;
            }
            match self.0.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => old = found,
            }
        }
    }
}

impl Default for Word {
    fn default() -> Word {
        Word::new()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever ran in user mode, the word accounts for it.
        #[test]
        fn an_open_word_accounts_for_all_that_happened(tokens in 0..5u32, steps in prop::collection::vec(any::<bool>(), 0..100)) {
            let word = Word::new();
            word.open(tokens);
            let (mut acquires, mut releases, mut count) = (0, 0, tokens);
            for acquires_now in steps {
                if acquires_now {
                    prop_assert_eq!(word.try_acquire(), count > 0);
                    acquires += u64::from(count > 0);
                    count = count.saturating_sub(1);
                } else {
                    prop_assert!(word.try_release());
                    releases += 1;
                    count += 1;
                }
                prop_assert_eq!(word.look(), Seen { tokens: count, releases });
                prop_assert_eq!(word.look().acquires(tokens), acquires);
            }
            prop_assert_eq!(word.close(), Seen { tokens: count, releases });
        }

        /// Any bits that a program may write there read as something that cannot hurt.
        #[test]
        fn any_bits_are_a_claim(bits: u64, tokens in 0..=MOST_TOKENS) {
            let seen = Word(AtomicU64::new(bits)).look();
            prop_assert!(seen.tokens <= MOST_TOKENS);
            prop_assert!(seen.acquires(tokens) <= u64::from(tokens) + u64::from(seen.releases));
        }
    }

    #[test]
    fn a_closed_word_sends_everyone_to_the_kernel() {
        let word = Word::new();
        assert!(!word.try_acquire() && !word.try_release());
        assert_eq!(word.0.load(Ordering::Relaxed), CLOSED);
    }

    #[test]
    fn the_highest_count_is_not_exceeded() {
        let word = Word::new();
        word.open(MOST_TOKENS);
        assert!(!word.try_release());
        assert!(word.try_acquire() && word.try_release() && !word.try_release());
    }

    #[test]
    fn the_counter_asks_for_the_kernel_before_it_can_wrap() {
        let at = |count: u64, releases: u64| Word(AtomicU64::new(count << 32 | releases));
        assert!(at(1, TIRED - 1).try_acquire());
        assert!(!at(1, TIRED).try_acquire() && !at(1, u64::from(u32::MAX)).try_acquire());
        // From the last P that is let through, the count allows only so many V's.
        let most = TIRED - 1 + u64::from(MOST_TOKENS);
        assert!(most <= u64::from(u32::MAX));
    }
}
