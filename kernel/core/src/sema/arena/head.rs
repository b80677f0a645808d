//! What lies in the arena's memory that the kernel looks at.

use crate::sema::word::Word;
#[cfg(all(test, not(feature = "loom")))]
use crate::sync::Ordering;
use crate::sync::{AtomicU32, const_fn};

/// A hint at the head of a semaphore's line, not of a block's.
pub(super) const SEMAPHORE: u32 = 1 << 31;

/// The head of a semaphore's line, or of a block's, in the arena's memory.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Head {
    pub(super) word: Word,
    /// Which semaphore or block this is, if that one agrees.
    pub(super) hint: AtomicU32,
}

impl Head {
    const_fn! {
        /// Of nothing.
        pub fn new() -> Head {
            Head { word: Word::new(), hint: AtomicU32::new(0) }
        }
    }

    /// The semaphore's word, if it is a semaphore's line.
    #[must_use]
    pub fn word(&self) -> &Word {
        &self.word
    }

    #[cfg(all(test, not(feature = "loom")))]
    pub(in crate::sema) fn set_hint(&self, hint: u32) {
        self.hint.store(hint, Ordering::Relaxed);
    }
}

/// The memory that an arena shares with programs. They may write there what they like.
pub trait Memory {
    /// What lies at the beginning of a line of the arena: always the same.
    fn head(&self, line: u32) -> &Head;
}
