//! One semaphore: every operation under the lock of its arena, as a function of its state.

use super::history::{History, Record};
use super::meter::{Debug, Got, Meter, Reading, User};
use super::waiter::{Queue, Waiter, Waiters};
use super::word::Word;
use crate::list::Slot;
use alloc::boxed::Box;
use syscalls::Errno;
use syscalls::sema::{MOST_TOKENS, flag, operation};

/// What an operation needs besides the semaphore.
pub(super) struct Scene<'a, W, N> {
    /// The semaphore's word.
    pub(super) word: &'a Word,
    /// Who may wait.
    pub(super) waiters: &'a W,
    /// The arena's history.
    pub(super) history: &'a mut History,
    /// Whether the arena has memory for one more record.
    pub(super) may_grow: bool,
    /// The time in nanoseconds; asked for only where it is needed.
    pub(super) now: N,
}

/// Who operates, and where in its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The LWP's slot.
    pub slot: Slot,
    /// The LWP's process.
    pub pid: u32,
    /// The LWP.
    pub tid: u32,
    /// The address to which the library's call returns.
    pub pc: u64,
}

impl Caller {
    const fn user(&self) -> User {
        User { pid: self.pid, pc: self.pc }
    }
}

/// How long a P waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until it has a token, or the caller withdraws it.
    Wait,
    /// Not at all: it is conditional.
    None,
    /// Its time is over before it began.
    ZeroTime,
}

/// What became of a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Acquire {
    /// It has a token.
    Hit,
    /// The caller waits: it blocks until its waiter has another [`super::Fate`].
    Queued,
    /// It has none.
    Missed,
}

/// Why a waiter withdraws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// Its time is over.
    TimedOut,
    /// It is to end.
    Killed,
}

/// Whether the owner may acquire it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recursion {
    Off,
    /// Nobody has it.
    Free,
    /// An LWP has it, so many times.
    Held {
        tid: u32,
        depth: u32,
    },
}

/// A semaphore, or the place of one that was freed.
#[derive(Debug)]
pub(super) struct Semaphore {
    pub(super) line: u32,
    /// Another value each time it is initialised; 0: it is freed.
    pub(super) born: u64,
    /// The next freed place.
    pub(super) next: u32,
    initial: u32,
    /// The count; while the word is open, that at its opening.
    tokens: u32,
    is_open: bool,
    keeps_history: bool,
    recursion: Recursion,
    queue: Queue,
    pub(super) meter: Option<Box<Meter>>,
    pub(super) debug: Option<Debug>,
}

impl Semaphore {
    /// A freed place at `line`.
    pub(super) const fn freed(line: u32) -> Semaphore {
        Semaphore {
            line,
            born: 0,
            next: u32::MAX,
            initial: 0,
            tokens: 0,
            is_open: false,
            keeps_history: false,
            recursion: Recursion::Off,
            queue: Queue::new(),
            meter: None,
            debug: None,
        }
    }

    /// Begins with `tokens`, without waiters.
    pub(super) fn begin(
        &mut self,
        tokens: u32,
        born: u64,
        keeps_history: bool,
        word: &Word,
        history: &History,
    ) {
        debug_assert!(self.queue.is_empty());
        word.close(); // it may be any memory's
        *self = Semaphore { born, initial: tokens, tokens, keeps_history, ..Semaphore::freed(self.line) };
        self.settle(word, history);
    }

    /// Ends: nobody can use it any more. Its waiters are to be taken out by [`Semaphore::expel`].
    pub(super) fn end(&mut self, word: &Word) {
        self.close(word);
        self.born = 0;
    }

    /// Takes out one waiter, whose P fails.
    pub(super) fn expel(&mut self, waiters: &impl Waiters) -> Option<Slot> {
        let slot = self.queue.pop(waiters)?;
        waiters.waiter(slot).expel();
        Some(slot)
    }

    /// P. EOVERFLOW: its owner has it too many times.
    #[inline]
    pub(super) fn acquire<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        patience: Patience,
    ) -> Result<Acquire, Errno> {
        self.close(scene.word);
        let result = if self.take(caller.tid)? {
            self.note_acquire(Got::AtOnce);
            self.note_owner(caller);
            self.note(scene, operation::P_HIT, caller, None);
            Acquire::Hit
        } else {
            self.note_acquire(Got::Nothing);
            self.miss(scene, caller, patience)
        };
        self.settle(scene.word, scene.history);
        Ok(result)
    }

    /// Gives `tid` a token, if there is one for it.
    #[inline]
    fn take(&mut self, tid: u32) -> Result<bool, Errno> {
        if let Recursion::Held { tid: owner, depth } = &mut self.recursion
            && *owner == tid
        {
            if *depth == MOST_TOKENS {
                return Err(Errno::EOVERFLOW);
            }
            *depth += 1;
            return Ok(true);
        }
        if self.tokens == 0 {
            return Ok(false);
        }
        self.tokens -= 1;
        self.hold(tid);
        Ok(true)
    }

    /// `tid` has it now.
    #[inline]
    fn hold(&mut self, tid: u32) {
        if self.recursion != Recursion::Off {
            self.recursion = Recursion::Held { tid, depth: 1 };
        }
    }

    #[inline]
    fn miss<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        patience: Patience,
    ) -> Acquire {
        let (operation, result) = match patience {
            Patience::Wait => (operation::P_SLEEP, Acquire::Queued),
            Patience::None => (operation::P_MISS, Acquire::Missed),
            Patience::ZeroTime => (operation::P_TIMEOUT, Acquire::Missed),
        };
        if result == Acquire::Queued {
            let since = if self.meter.is_some() { (scene.now)() } else { 0 };
            scene.waiters.waiter(caller.slot).begin(caller, since);
            self.queue.push(scene.waiters, caller.slot);
            if let Some(meter) = &mut self.meter {
                meter.add_waiter(self.queue.length());
            }
        }
        self.note(scene, operation, caller, None);
        result
    }

    /// V. Returns who is to be woken. EPERM: it is recursive, and the caller does not have it; EOVERFLOW: there are too
    /// many tokens. Nothing has changed then.
    #[inline]
    pub(super) fn release<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
    ) -> Result<Option<Slot>, Errno> {
        self.close(scene.word);
        let result = self.release_closed(scene, caller);
        self.settle(scene.word, scene.history);
        result
    }

    #[inline]
    fn release_closed<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
    ) -> Result<Option<Slot>, Errno> {
        let is_nested = self.is_nested_release(caller.tid)?;
        let waiting = self.queue.length();
        let first = if is_nested { None } else { self.queue.pop(scene.waiters) };
        if first.is_none() && !is_nested && self.tokens == MOST_TOKENS {
            return Err(Errno::EOVERFLOW);
        }
        if let Some(meter) = &mut self.meter {
            meter.add_release(waiting);
        }
        match first {
            Some(slot) => self.hand_over(scene, slot),
            None if is_nested => self.nest_less(),
            None => self.put_back(),
        }
        if let Some(debug) = &mut self.debug {
            match first {
                None if !is_nested => debug.released(caller.user(), self.tokens >= self.initial),
                _ => debug.last = Some(caller.user()),
            }
        }
        let operation = if first.is_some() { operation::V_WAKE } else { operation::V_NO_WAIT };
        self.note(scene, operation, caller, first);
        Ok(first)
    }

    /// Whether this V only undoes a nested P. EPERM.
    #[inline]
    fn is_nested_release(&self, tid: u32) -> Result<bool, Errno> {
        match self.recursion {
            Recursion::Off => Ok(false),
            Recursion::Held { tid: owner, depth } if owner == tid => Ok(depth > 1),
            Recursion::Free | Recursion::Held { .. } => Err(Errno::EPERM),
        }
    }

    fn nest_less(&mut self) {
        if let Recursion::Held { depth, .. } = &mut self.recursion {
            *depth -= 1;
        }
    }

    /// A token for nobody in particular.
    #[inline]
    fn put_back(&mut self) {
        self.tokens += 1;
        if self.recursion != Recursion::Off {
            self.recursion = Recursion::Free;
        }
    }

    /// Gives a token to a waiter that is out of the queue.
    #[inline]
    fn hand_over<W: Waiters, N: Fn() -> u64>(&mut self, scene: &Scene<W, N>, slot: Slot) {
        let waiter = scene.waiters.waiter(slot);
        self.note_wait(scene, waiter);
        if let Some(debug) = &mut self.debug {
            debug.owner = Some(waiter.user());
        }
        self.hold(waiter.tid());
        waiter.grant(); // last: from now on it is the waiter's own
    }

    /// A waiter that was given a token runs with it.
    pub(super) fn woke<W: Waiters, N: Fn() -> u64>(&mut self, scene: &mut Scene<W, N>, caller: &Caller) {
        if let Some(debug) = &mut self.debug {
            debug.last = Some(caller.user());
        }
        self.note(scene, operation::P_WOKE, caller, None);
    }

    /// Whether [`Semaphore::woke`] would do anything.
    #[inline]
    pub(super) fn keeps_wakes(&self, history: &History) -> bool {
        self.debug.is_some() || self.keeps_history && history.is_on()
    }

    /// A waiter gives up. False: it waits no longer, a V or the semaphore's end was faster.
    pub(super) fn withdraw<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        caller: &Caller,
        why: Withdrawal,
    ) -> bool {
        if !self.queue.remove(scene.waiters, caller.slot) {
            return false;
        }
        self.note_wait(scene, scene.waiters.waiter(caller.slot));
        if why == Withdrawal::TimedOut {
            self.note(scene, operation::P_TIMEOUT, caller, None);
        }
        self.settle(scene.word, scene.history);
        true
    }

    /// A token did not arrive, because the LWP that had got it ends: the next waiter has it, and is to be woken, or it is
    /// as if it had not been given.
    pub(super) fn pass_on<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        tid: u32,
        got: Got,
    ) -> Option<Slot> {
        self.close(scene.word);
        let next = match self.is_nested_release(tid) {
            Ok(true) => {
                self.nest_less();
                None
            }
            Ok(false) => self.pass_token_on(scene, got),
            Err(_) => None, // recursion began while more than one token was out: there is one only from then on
        };
        self.settle(scene.word, scene.history);
        next
    }

    fn pass_token_on<W: Waiters, N: Fn() -> u64>(
        &mut self,
        scene: &mut Scene<W, N>,
        got: Got,
    ) -> Option<Slot> {
        let next = self.queue.pop(scene.waiters);
        if let Some(slot) = next {
            self.hand_over(scene, slot);
            return next;
        }
        if self.tokens < MOST_TOKENS {
            self.put_back();
        }
        if let Some(meter) = &mut self.meter {
            meter.take_back(got);
        }
        if let Some(debug) = &mut self.debug {
            debug.owner = None;
        }
        None
    }

    /// What `ustestsema` says: the count, or minus the number of waiters.
    #[inline]
    pub(super) fn test(&self, word: &Word) -> i32 {
        match self.queue.length() {
            0 => self.tokens_now(word) as i32,
            waiting => -(waiting as i32),
        }
    }

    /// The count.
    #[inline]
    pub(super) fn tokens_now(&self, word: &Word) -> u32 {
        if self.is_open { word.look().tokens } else { self.tokens }
    }

    /// The meter's figures of this moment, if it is on.
    #[inline]
    pub(super) fn reading(&self, word: &Word) -> Option<Reading> {
        let reading = self.meter.as_ref()?.read(self.tokens, self.queue.length());
        Some(if self.is_open { reading.after(word.look()) } else { reading })
    }

    /// Counts from now on; what was before is forgotten.
    pub(super) fn start_meter(&mut self, mut meter: Box<Meter>, word: &Word, history: &History) {
        self.close(word);
        *meter = Meter::new(self.tokens, self.queue.length());
        self.meter = Some(meter);
        self.settle(word, history);
    }

    /// Counts anew, if it counts at all.
    pub(super) fn reset_meter(&mut self, word: &Word, history: &History) {
        if let Some(meter) = self.meter.take() {
            self.start_meter(meter, word, history);
        }
    }

    /// Keeps who owns it and who used it last, or does so no longer.
    pub(super) fn set_debug(&mut self, debug: Option<Debug>, word: &Word, history: &History) {
        self.close(word);
        self.debug = debug;
        self.settle(word, history);
    }

    /// Has operations recorded where the arena does, or not.
    pub(super) fn keep_history(&mut self, keeps_history: bool, word: &Word, history: &History) {
        self.close(word);
        self.keeps_history = keeps_history;
        self.settle(word, history);
    }

    /// The arena's history was switched.
    pub(super) fn adapt(&mut self, word: &Word, history: &History) {
        if self.keeps_history && self.born != 0 {
            self.close(word);
            self.settle(word, history);
        }
    }

    /// Lets the owner acquire it again, or not. EINVAL: it is no semaphore of one token, or not free.
    pub(super) fn set_recursion(&mut self, is_on: bool, word: &Word, history: &History) -> Result<(), Errno> {
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

    /// Who waits, with how many it began, and which of [`flag`] are set.
    pub(super) fn traits(&self) -> (u32, u32, u32) {
        let flags = [
            (self.meter.is_some(), flag::METER),
            (self.debug.is_some(), flag::DEBUG),
            (self.keeps_history, flag::HISTORY),
            (self.recursion != Recursion::Off, flag::RECURSION),
        ];
        let set = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |set, (_, flag)| set | flag);
        (self.queue.length(), self.initial, set)
    }

    #[inline]
    fn note_acquire(&mut self, got: Got) {
        if let Some(meter) = &mut self.meter {
            meter.add_acquire(got);
        }
    }

    /// A wait that began while the meter was on has ended.
    #[inline]
    fn note_wait<W: Waiters, N: Fn() -> u64>(&mut self, scene: &Scene<W, N>, waiter: &Waiter) {
        if let Some(meter) = &mut self.meter
            && waiter.since() != 0
        {
            meter.add_wait((scene.now)().saturating_sub(waiter.since()));
        }
    }

    #[inline]
    fn note_owner(&mut self, caller: &Caller) {
        if let Some(debug) = &mut self.debug {
            debug.acquired(caller.user());
        }
    }

    /// Records an operation, where that is wanted.
    #[inline]
    fn note<W: Waiters, N: Fn() -> u64>(
        &self,
        scene: &mut Scene<W, N>,
        operation: u32,
        caller: &Caller,
        woken: Option<Slot>,
    ) {
        if !(self.keeps_history && scene.history.is_on()) {
            return;
        }
        let woken = woken.map_or((0, 0), |slot| {
            let waiter: &Waiter = scene.waiters.waiter(slot);
            (waiter.user().pid, waiter.tid())
        });
        let count = self.test(scene.word);
        let Caller { pid, tid, pc, .. } = *caller;
        let record = Record { line: self.line, operation, count, pid, tid, woken, pc, time: (scene.now)() };
        scene.history.add(record, scene.may_grow);
    }

    /// Sends user mode to the kernel, and takes over what it did meanwhile.
    #[inline]
    fn close(&mut self, word: &Word) {
        if !self.is_open {
            return;
        }
        let seen = word.close();
        if let Some(meter) = &mut self.meter {
            meter.add_seen(seen, self.tokens);
        }
        self.tokens = seen.tokens;
        self.is_open = false;
    }

    /// Opens the word, if nothing forbids it.
    #[inline]
    fn settle(&mut self, word: &Word, history: &History) {
        let needs_kernel = !self.queue.is_empty()
            || self.debug.is_some()
            || self.recursion != Recursion::Off
            || self.keeps_history && history.is_on();
        if !needs_kernel && !self.is_open && self.born != 0 {
            word.open(self.tokens);
            self.is_open = true;
        }
    }
}
