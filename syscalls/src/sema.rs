//! Semaphores and their arenas: the shared word, commands, and what the calls fill.

/// Arena memory is mapped at these addresses, the same in every process: arena n from `ARENAS + n * ARENA_SPAN` on.
pub const ARENAS: u64 = 0x1000_0000_0000;

/// Addresses that are kept for one arena.
pub const ARENA_SPAN: u64 = 1 << 31;

/// So many arenas there can be at a time.
pub const MOST_ARENAS: usize = 256;

/// The least and the greatest size of an arena, in bytes.
pub const ARENA_SIZES: core::ops::RangeInclusive<u64> = 4096..=1 << 30;

/// The most processes that may be let into an arena.
pub const MOST_ARENA_USERS: i32 = 10_000;

/// The longest name of an arena, without its final zero.
pub const ARENA_NAME: usize = 255;

/// The greatest initial count of a semaphore.
pub const MOST_INITIAL: i32 = 30_000;

/// The greatest count of a semaphore.
pub const MOST_TOKENS: u32 = i32::MAX as u32;

/// One token in the shared word, whose upper half is the count. The lower half counts V's.
pub const ONE: u64 = 1 << 32;

/// The shared word of a semaphore whose P's and V's go to the kernel. It stays negative whatever they would add.
pub const CLOSED: u64 = 0xc000_0000_0000_0000;

/// So many V's the word can count until a P must go to the kernel.
pub const TIRED: u64 = 1 << 31;

/// How an arena is found: values for `arena_join`.
pub mod arena_kind {
    /// By its name.
    pub const GENERAL: i32 = 0;
    /// By nobody; children have it from their parents.
    pub const SHARED_ONLY: i32 = 1;
}

/// How `arena_exchange` goes about it.
pub mod exchange {
    /// It replaces the word.
    pub const PUT: i32 = 0;
    /// It replaces the word where that is what is expected.
    pub const COMPARE: i32 = 1;
}

/// How long `sema_acquire` waits.
pub mod patience {
    /// Until it has a token.
    pub const WAIT: i32 = 0;
    /// Not at all.
    pub const NONE: i32 = 1;
    /// At most for a time.
    pub const TIMED: i32 = 2;
}

/// Commands of `arena_history`.
pub mod history {
    /// Records operations (C: `CONF_HISTON`).
    pub const ON: i32 = 1;
    /// Records no more; what is there stays (C: `CONF_HISTOFF`).
    pub const OFF: i32 = 2;
    /// Bounds the number of records; 0: by the arena's size (C: `CONF_HISTSIZE`).
    pub const SIZE: i32 = 3;
    /// Empties the chain (C: `CONF_HISTRESET`).
    pub const RESET: i32 = 4;
}

/// Commands of `sema_control` (C: `CS_…`).
pub mod control {
    /// Meter from now on.
    pub const METER_ON: i32 = 1;
    /// No longer.
    pub const METER_OFF: i32 = 2;
    /// Fill a [`Meter`](super::Meter).
    pub const METER_FETCH: i32 = 3;
    /// Begin anew.
    pub const METER_RESET: i32 = 4;
    /// Keep who owns it and who used it last.
    pub const DEBUG_ON: i32 = 5;
    /// No longer.
    pub const DEBUG_OFF: i32 = 6;
    /// Fill a [`Debug`](super::Debug).
    pub const DEBUG_FETCH: i32 = 7;
    /// Forget both.
    pub const DEBUG_RESET: i32 = 8;
    /// Record operations where the arena does.
    pub const HISTORY_ON: i32 = 9;
    /// No longer.
    pub const HISTORY_OFF: i32 = 10;
    /// Let the owner acquire it again.
    pub const RECURSION_ON: i32 = 11;
    /// No longer.
    pub const RECURSION_OFF: i32 = 12;
    /// Fill a [`MeterExtension`](super::MeterExtension).
    pub const METER_EXTENSION: i32 = 13;
}

/// Operations in a history (C: `HOP_…`).
pub mod operation {
    /// A P that got a token at once.
    pub const P_HIT: u32 = 1;
    /// A P that began to wait.
    pub const P_SLEEP: u32 = 2;
    /// A P that waited and runs with its token.
    pub const P_WOKE: u32 = 3;
    /// A conditional P that got none.
    pub const P_MISS: u32 = 4;
    /// A P whose time was over.
    pub const P_TIMEOUT: u32 = 5;
    /// A V with nobody waiting.
    pub const V_NO_WAIT: u32 = 6;
    /// A V that woke one.
    pub const V_WAKE: u32 = 7;
}

/// Flags in a [`SemaStatus`].
pub mod flag {
    /// The meter is on.
    pub const METER: u32 = 1;
    /// Owner and last user are kept.
    pub const DEBUG: u32 = 2;
    /// Operations are recorded where the arena does.
    pub const HISTORY: u32 = 4;
    /// The owner may acquire it again.
    pub const RECURSION: u32 = 8;
}

/// Buckets of a histogram of waits: bucket n counts those of 2^n…2^(n+1)−1 ns, the first also 0, the last all longer ones.
pub const WAIT_BUCKETS: usize = 32;

/// Bytes of an arena's name in a status.
pub const STATUS_NAME: usize = 32;

crossing! {
    /// A semaphore's meter (C: `semameter_t`). Counts stop at 2^31−1.
    struct Meter: 24 {
        /// P's that got a token at once.
        hits: i32,
        /// All P's.
        acquires: i32,
        /// All V's.
        releases: i32,
        /// V's with nobody waiting.
        free_releases: i32,
        /// Who waits now.
        waiting: i32,
        /// Most who waited at once.
        most_waiting: i32,
    }
    /// What this project's meters count besides (C: `semameter_ext_t`).
    struct MeterExtension: 160 {
        /// How long all waits that ended took, in nanoseconds.
        wait_total: u64,
        /// The longest.
        wait_longest: u64,
        /// How many ended.
        waits: u64,
        /// The count at the moment of the other figures.
        tokens: u32,
        /// Tokens when the meter began.
        tokens_before: u32,
        /// See [`WAIT_BUCKETS`].
        buckets: [u32; WAIT_BUCKETS],
    }
    /// Who owns a semaphore and who used it last (C: `semadebug_t`); −1: nobody.
    struct Debug: 32 {
        /// The owner's pid.
        owner_pid: i32,
        /// Nothing.
        pad: u32,
        /// Where its P was called.
        owner_pc: u64,
        /// The pid of who completed a P or V last.
        last_pid: i32,
        /// Nothing.
        last_pad: u32,
        /// Where that was called.
        last_pc: u64,
    }
    /// An operation in a history (C: `hist_t`, without its links).
    struct SemaRecord: 48 {
        /// The semaphore's address.
        semaphore: u64,
        /// Where the call was.
        pc: u64,
        /// When, in nanoseconds of CLOCK_MONOTONIC.
        time: u64,
        /// Of [`operation`].
        operation: u32,
        /// The count afterwards; where LWPs wait, minus their number.
        count: i32,
        /// Whose operation.
        pid: u32,
        /// Which LWP's.
        tid: u32,
        /// Whom it woke; 0: nobody.
        woken_pid: u32,
        /// Which LWP.
        woken_tid: u32,
    }
    /// How many records `arena_records` has.
    struct Records: 16 {
        /// How many it wrote, or would write if there were room.
        entries: u64,
        /// Records that can no longer be had.
        errors: u64,
    }
    /// An arena (C: `struct arena_status`).
    struct ArenaStatus: 96 {
        /// Its address.
        address: u64,
        /// Its size in bytes.
        size: u64,
        /// How much of that is used.
        used: u64,
        /// The published word.
        info: u64,
        /// How many semaphores it has.
        semaphores: u32,
        /// How many processes may join.
        most_users: u32,
        /// How many have.
        users: u32,
        /// How many processes have its memory.
        members: u32,
        /// How many records its history has.
        records: u32,
        /// 1 where operations are recorded.
        records_on: u32,
        /// The first bytes of its name, then zeroes.
        name: [u8; STATUS_NAME],
        /// Nothing.
        pad: u64,
    }
    /// A semaphore (C: `struct sema_status`).
    struct SemaStatus: 96 {
        /// Its address.
        address: u64,
        /// Its arena's address.
        arena: u64,
        /// Its count.
        tokens: u32,
        /// Who waits.
        waiting: u32,
        /// Of [`flag`].
        flags: u32,
        /// Its count at first.
        initial: u32,
        /// Its meter, if that is on.
        meter: Meter,
        /// Its debug record, if that is on.
        debug: Debug,
        /// How long its waits took in all, in nanoseconds, if the meter is on.
        wait_total: u64,
    }
}

use crate::Crossing;
