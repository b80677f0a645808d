//! What a semaphore tells.

use super::{Recursion, Semaphore};
use crate::sema::meter::Reading;
use crate::sema::word::Word;
use syscalls::sema::flag;

impl Semaphore {
    /// What `ustestsema` says: the count, or minus the number of waiters.
    #[inline]
    pub(in crate::sema) fn test(&self, word: &Word) -> i32 {
        match self.queue.length() {
            0 => self.tokens_now(word) as i32,
            waiting => -(waiting as i32),
        }
    }

    /// The count.
    #[inline]
    pub(in crate::sema) fn tokens_now(&self, word: &Word) -> u32 {
        if self.is_open { word.look().tokens } else { self.tokens }
    }

    /// The meter's figures of this moment, if it is on.
    #[inline]
    pub(in crate::sema) fn reading(&self, word: &Word) -> Option<Reading> {
        let reading = self.meter.as_ref()?.read(self.tokens, self.queue.length());
        Some(if self.is_open { reading.after(word.look()) } else { reading })
    }

    /// Who waits, with how many it began, and which of [`flag`] are set.
    pub(in crate::sema) fn traits(&self) -> (u32, u32, u32) {
        let flags = [
            (self.meter.is_some(), flag::METER),
            (self.debug.is_some(), flag::DEBUG),
            (self.keeps_history, flag::HISTORY),
            (self.recursion != Recursion::Off, flag::RECURSION),
        ];
        let set = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |set, (_, flag)| set | flag);
        (self.queue.length(), self.initial, set)
    }
}
