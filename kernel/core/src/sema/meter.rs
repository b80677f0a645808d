//! What a semaphore's meter counts, and its debug record.

use super::word::Seen;
use syscalls::sema::WAIT_BUCKETS;

/// The kernel's part of a meter: what went through the kernel, and what was taken over from words that were closed.
#[derive(Debug, Clone)]
pub struct Meter {
    /// P's that got a token at once, and all P's.
    hits: u64,
    acquires: u64,
    /// V's with nobody waiting, and all V's.
    free_releases: u64,
    releases: u64,
    /// Most who waited at once since it was switched on or reset.
    most_waiting: u32,
    /// The count when it was switched on or reset.
    tokens_before: u32,
    waits: Waits,
}

/// How long waits took that ended, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// All of them together.
    pub total: u64,
    /// The longest.
    pub longest: u64,
    /// How many.
    pub count: u64,
    /// How many took 2^n…2^(n+1)−1 ns; the first also has those of 0, the last all longer ones.
    pub buckets: [u32; WAIT_BUCKETS],
}

/// The figures of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// P's that got a token at once.
    pub hits: u64,
    /// All P's.
    pub acquires: u64,
    /// All V's.
    pub releases: u64,
    /// V's with nobody waiting.
    pub free_releases: u64,
    /// Who waits.
    pub waiting: u32,
    /// Most who waited at once.
    pub most_waiting: u32,
    /// The count.
    pub tokens: u32,
    /// The count when the meter began.
    pub tokens_before: u32,
}

impl Meter {
    /// One that has counted nothing, of a semaphore with `tokens` that `waiting` LWPs wait for.
    #[must_use]
    pub const fn new(tokens: u32, waiting: u32) -> Meter {
        let waits = Waits { total: 0, longest: 0, count: 0, buckets: [0; WAIT_BUCKETS] };
        Meter {
            hits: 0,
            acquires: 0,
            free_releases: 0,
            releases: 0,
            most_waiting: waiting,
            tokens_before: tokens,
            waits,
        }
    }

    /// What happened in user mode since the word was opened with `tokens`.
    pub(super) fn add_seen(&mut self, seen: Seen, tokens: u32) {
        let (acquires, releases) = (seen.acquires(tokens), u64::from(seen.releases));
        self.hits += acquires;
        self.acquires += acquires;
        self.free_releases += releases;
        self.releases += releases;
    }

    /// A P; whether it got a token at once.
    #[inline]
    pub(super) fn add_acquire(&mut self, got: bool) {
        self.acquires += 1;
        self.hits += u64::from(got);
    }

    /// A V; how many waited when it came.
    #[inline]
    pub(super) fn add_release(&mut self, waiting: u32) {
        self.releases += 1;
        self.free_releases += u64::from(waiting == 0);
    }

    /// One more waits, and that makes `waiting`.
    #[inline]
    pub(super) fn add_waiter(&mut self, waiting: u32) {
        self.most_waiting = self.most_waiting.max(waiting);
    }

    /// A wait of `nanoseconds` has ended, however.
    pub(super) fn add_wait(&mut self, nanoseconds: u64) {
        let waits = &mut self.waits;
        waits.total = waits.total.saturating_add(nanoseconds);
        waits.longest = waits.longest.max(nanoseconds);
        waits.count += 1;
        let bucket = &mut waits.buckets[(nanoseconds | 1).ilog2().min(WAIT_BUCKETS as u32 - 1) as usize];
        *bucket = bucket.saturating_add(1);
    }

    /// A token that was given out came back without having arrived: as if it had not been given.
    pub(super) fn take_back(&mut self, got: Got) {
        match got {
            Got::AtOnce => self.hits = self.hits.saturating_sub(1),
            Got::Later if self.free_releases < self.releases => self.free_releases += 1,
            Got::Later | Got::Nothing => {}
        }
    }

    /// The times of the waits that ended.
    #[must_use]
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// The figures, of a semaphore with `tokens` that `waiting` LWPs wait for.
    #[inline]
    pub(super) fn read(&self, tokens: u32, waiting: u32) -> Reading {
        Reading {
            hits: self.hits,
            acquires: self.acquires,
            releases: self.releases,
            free_releases: self.free_releases,
            waiting,
            most_waiting: self.most_waiting,
            tokens,
            tokens_before: self.tokens_before,
        }
    }
}

impl Reading {
    /// The same after what an open word says happened since it was opened with `self.tokens`.
    #[inline]
    pub(super) fn after(self, seen: Seen) -> Reading {
        let (acquires, releases) = (seen.acquires(self.tokens), u64::from(seen.releases));
        Reading {
            hits: self.hits + acquires,
            acquires: self.acquires + acquires,
            releases: self.releases + releases,
            free_releases: self.free_releases + releases,
            tokens: seen.tokens,
            ..self
        }
    }
}

/// How a P came to its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// It was there.
    AtOnce,
    /// A V handed it over.
    Later,
    /// Not at all, so far.
    Nothing,
}

/// A process, and where in its code it called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The process.
    pub pid: u32,
    /// The address to which the library's call returned.
    pub pc: u64,
}

/// Who owns a semaphore, and who used it last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Debug {
    /// The last to acquire it, unless it was released since.
    pub owner: Option<User>,
    /// Who completed a P or V last.
    pub last: Option<User>,
}

impl Debug {
    /// `user` has acquired it.
    pub(super) fn acquired(&mut self, user: User) {
        *self = Debug { owner: Some(user), last: Some(user) };
    }

    /// `user` has released it for nobody in particular; `is_whole`: every token is back.
    pub(super) fn released(&mut self, user: User, is_whole: bool) {
        self.last = Some(user);
        if is_whole || self.owner.is_some_and(|owner| owner.pid == user.pid) {
            self.owner = None;
        }
    }
}
