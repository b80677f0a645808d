//! Its instruments, switched.

use super::{Recursion, Semaphore};
use crate::sema::history::History;
use crate::sema::meter::{Debug, Meter};
use crate::sema::word::Word;
use alloc::boxed::Box;
use syscalls::Errno;

impl Semaphore {
    /// Counts from now on; what was before is forgotten.
    pub(in crate::sema) fn start_meter(&mut self, mut meter: Box<Meter>, word: &Word, history: &History) {
        self.close(word);
        *meter = Meter::new(self.tokens, self.queue.length());
        self.meter = Some(meter);
        self.settle(word, history);
    }

    /// Counts anew, if it counts at all.
    pub(in crate::sema) fn reset_meter(&mut self, word: &Word, history: &History) {
        if let Some(meter) = self.meter.take() {
            self.start_meter(meter, word, history);
        }
    }

    /// Keeps who owns it and who used it last, or does so no longer.
    pub(in crate::sema) fn set_debug(&mut self, debug: Option<Debug>, word: &Word, history: &History) {
        self.close(word);
        self.debug = debug;
        self.settle(word, history);
    }

    /// Has operations recorded where the arena does, or not.
    pub(in crate::sema) fn keep_history(&mut self, keeps_history: bool, word: &Word, history: &History) {
        self.close(word);
        self.keeps_history = keeps_history;
        self.settle(word, history);
    }

    /// The arena's history was switched.
    pub(in crate::sema) fn adapt(&mut self, word: &Word, history: &History) {
        if self.keeps_history && self.born != 0 {
            self.close(word);
            self.settle(word, history);
        }
    }

    /// Lets the owner acquire it again, or not. EINVAL: it is no semaphore of one token, or not free.
    pub(in crate::sema) fn set_recursion(
        &mut self,
        is_on: bool,
        word: &Word,
        history: &History,
    ) -> Result<(), Errno> {
        if is_on == (self.recursion != Recursion::Off) {
            return Ok(());
        }
        self.close(word);
        let is_free = self.initial == 1 && self.tokens == 1 && self.queue.is_empty();
        if is_free {
            self.recursion = if is_on { Recursion::Free } else { Recursion::Off };
        }
        self.settle(word, history);
        if is_free { Ok(()) } else { Err(Errno::EINVAL) }
    }
}
