//! Arenas: memory that the processes which name it see at one address, with semaphores in it.
//!
//! ```no_run
//! use userlib::arena::{Arena, Options};
//!
//! let arena = Arena::join(c"/work", Options::default())?;
//! let mutex = arena.semaphore(1)?;
//! {
//!     let _guard = mutex.lock()?; // and its V at the end of the block
//! }
//! # Ok::<(), userlib::Errno>(())
//! ```
//!
//! Addresses in an arena, of semaphores too, mean the same in every process that joined it. An arena is this process's until
//! [`Arena::leave`], and lives until its last member is gone.

use core::ffi::CStr;
use core::ptr::NonNull;

use syscalls::Errno;
use syscalls::sema::{ArenaStatus, Records, SemaRecord, arena_kind, exchange, history};

use crate::semaphore::Semaphore;
use crate::{fetch, raw};

/// What an arena that is made is like. For one that there is already it says nothing.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Its size in bytes, 4 096 to 2^30. Semaphores and what they keep come out of it too.
    pub size: u64,
    /// How many processes may join it, 1 to 10 000. Children of `fork` do not count.
    pub users: u32,
    /// Whether it can be found by its name; if not, only children have it.
    pub is_findable: bool,
}

impl Default for Options {
    /// 65 536 bytes, 8 processes, findable.
    fn default() -> Self {
        Options { size: 65_536, users: 8, is_findable: true }
    }
}

/// An arena that this process has joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arena(u64);

impl Arena {
    /// Makes the arena of this name, or joins it (`usinit(3P)`).
    ///
    /// # Errors
    /// EINVAL: an empty or too long name, or options that there are not. ENOMEM. ENOSPC: as many processes as may have joined.
    pub fn join(name: &CStr, options: Options) -> Result<Self, Errno> {
        let kind = if options.is_findable { arena_kind::GENERAL } else { arena_kind::SHARED_ONLY };
        let users = i32::try_from(options.users).map_err(|_| Errno::EINVAL)?;
        let name = name.as_ptr().expose_provenance() as u64;
        // SAFETY: the name is a string; what is mapped was nobody's.
        Errno::from_return(unsafe { raw::arena_join(name, options.size, users, kind) }).map(Arena)
    }

    /// The arena at this address, which this process has joined: one that was handed over as a number.
    #[must_use]
    pub const fn from_address(address: u64) -> Self {
        Arena(address)
    }

    /// Its address.
    #[must_use]
    pub const fn address(self) -> u64 {
        self.0
    }

    /// Leaves it; its memory is unmapped.
    ///
    /// # Errors
    /// EINVAL: it was left already.
    ///
    /// # Safety
    /// Nothing refers to memory of the arena any more, semaphores included.
    pub unsafe fn leave(self) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        Errno::from_return(unsafe { raw::arena_leave(self.0) }).map(drop)
    }

    /// Takes `bytes` of its memory, for all its members (`usmalloc(3P)`). What is there is anything.
    ///
    /// # Errors
    /// ENOMEM, EINVAL.
    pub fn allocate(self, bytes: u64) -> Result<NonNull<u8>, Errno> {
        // SAFETY: what is handed out was nobody's.
        let address = Errno::from_return(unsafe { raw::arena_allocate(self.0, bytes) })?;
        NonNull::new(core::ptr::with_exposed_provenance_mut(address as usize)).ok_or(Errno::ENOMEM)
    }

    /// Gives memory back.
    ///
    /// # Errors
    /// EINVAL: it was not taken, or was given back.
    ///
    /// # Safety
    /// Nobody, in no process, uses it any more.
    pub unsafe fn free(self, block: NonNull<u8>) -> Result<(), Errno> {
        let block = block.as_ptr().expose_provenance() as u64;
        // SAFETY: the caller's promise.
        Errno::from_return(unsafe { raw::arena_free(self.0, block) }).map(drop)
    }

    /// Puts the one word that is published to all members.
    ///
    /// # Errors
    /// EINVAL.
    pub fn put_info(self, word: u64) -> Result<(), Errno> {
        // SAFETY: a number is replaced.
        Errno::from_return(unsafe { raw::arena_exchange(self.0, exchange::PUT, 0, word) }).map(drop)
    }

    /// Puts it if it is what is expected; whether it was.
    ///
    /// # Errors
    /// EINVAL.
    pub fn compare_info(self, expected: u64, word: u64) -> Result<bool, Errno> {
        // SAFETY: a number is replaced.
        let result = unsafe { raw::arena_exchange(self.0, exchange::COMPARE, expected, word) };
        Errno::from_return(result).map(|replaced| replaced != 0)
    }

    /// What there is to know of it; the published word is in it.
    ///
    /// # Errors
    /// EINVAL.
    pub fn status(self) -> Result<ArenaStatus, Errno> {
        // SAFETY: the place is `fetch`'s.
        fetch(|place| unsafe { raw::arena_status(self.0, place) })
    }

    /// Makes a semaphore with a count from 0 to 30 000 (`usnewsema(3P)`).
    ///
    /// # Errors
    /// EINVAL, ENOMEM.
    pub fn semaphore(self, count: u32) -> Result<Semaphore, Errno> {
        let count = i32::try_from(count).map_err(|_| Errno::EINVAL)?;
        // SAFETY: what is handed out was nobody's.
        Errno::from_return(unsafe { raw::sema_new(self.0, count) }).map(Semaphore::from_address)
    }

    /// Switches the recording of operations on or off, for semaphores that are to be recorded (`usconfig(3P)`).
    ///
    /// # Errors
    /// EINVAL.
    pub fn record(self, on: bool) -> Result<(), Errno> {
        self.history_command(if on { history::ON } else { history::OFF }, 0)
    }

    /// Bounds the number of records; 0: by the arena's size.
    ///
    /// # Errors
    /// EINVAL.
    pub fn bound_records(self, most: u32) -> Result<(), Errno> {
        self.history_command(history::SIZE, i64::from(most))
    }

    /// Forgets all records.
    ///
    /// # Errors
    /// EINVAL.
    pub fn forget_records(self) -> Result<(), Errno> {
        self.history_command(history::RESET, 0)
    }

    fn history_command(self, command: i32, value: i64) -> Result<(), Errno> {
        // SAFETY: no memory is named.
        Errno::from_return(unsafe { raw::arena_history(self.0, command, value) }).map(drop)
    }

    /// Copies the records, newest first, into `room` if all fit; says how many there are.
    ///
    /// # Errors
    /// EINVAL: recording is off. ENOMEM.
    pub fn records(self, room: &mut [SemaRecord]) -> Result<Records, Errno> {
        if self.status()?.records_on == 0 {
            return Err(Errno::EINVAL);
        }
        let (place, length) = (room.as_mut_ptr().expose_provenance() as u64, room.len() as u64);
        // SAFETY: there is room for so many; the other place is `fetch`'s.
        fetch(|records| unsafe { raw::arena_records(self.0, place, length, records) })
    }
}

/// All arenas of the machine.
pub fn all() -> impl Iterator<Item = ArenaStatus> {
    let mut last = 0;
    core::iter::from_fn(move || {
        // SAFETY: the place is `fetch`'s.
        let status: ArenaStatus = fetch(|place| unsafe { raw::arena_next(last, place) }).ok()?;
        last = status.address;
        Some(status)
    })
}
