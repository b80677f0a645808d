//! Looking at arenas and semaphores from outside, for whoever wants to know.

use super::{ARENAS, Place, address_of, locate};
use crate::proc::current_space;
use kcore::sema::{Extent, History, Status};
use syscalls::sema::{ArenaStatus, MOST_ARENAS};
use syscalls::{Errno, name};

/// A semaphore, and where it is.
pub(crate) struct Watched {
    pub(crate) arena: u64,
    pub(crate) status: Status,
    /// By which the next one is found.
    pub(crate) key: u64,
}

/// The first arena behind the one at `after`; 0: the first of all. ESRCH: there is none.
pub(crate) fn next_arena(after: u64) -> Result<ArenaStatus, Errno> {
    let from = if after == 0 { 0 } else { locate(after)?.0 + 1 };
    (from..MOST_ARENAS).find_map(|number| describe(&ARENAS[number].lock())).ok_or(Errno::ESRCH)
}

fn describe(place: &Option<impl core::ops::Deref<Target = Place>>) -> Option<ArenaStatus> {
    place.as_ref().map(|place| place.status())
}

impl Place {
    /// What there is to know of the arena.
    pub(crate) fn status(&self) -> ArenaStatus {
        ArenaStatus {
            address: address_of(self.number),
            size: self.arena.size(),
            used: self.arena.used(),
            info: if current_space().arenas.has(self.number) { self.arena.info() } else { 0 },
            semaphores: self.arena.semaphores(),
            most_users: self.most_users,
            users: self.users,
            members: self.members,
            records: self.arena.history().length() as u32,
            records_on: u32::from(self.arena.history().is_on()),
            name: name::fixed(&self.name),
            pad: 0,
        }
    }
}

/// The first semaphore behind the one with this key; 0: the first of all. ESRCH: there is none.
pub(crate) fn next_semaphore(after: u64) -> Result<Watched, Errno> {
    // A key is the arena's number, and one more than the semaphore's.
    let (first, mut from) = ((after >> 32) as usize, after as u32);
    for (number, place) in ARENAS.iter().enumerate().skip(first) {
        if let Some(place) = place.lock().as_deref()
            && let Some((index, status)) = place.arena.status_from(&place.pages, from)
        {
            let key = (number as u64) << 32 | u64::from(index + 1);
            return Ok(Watched { arena: address_of(number), status, key });
        }
        from = 0;
    }
    Err(Errno::ESRCH)
}

/// Calls `look` with the history of the arena at an address and its extent, under the arena's lock. EINVAL: there is none.
pub(crate) fn with_records<T>(address: u64, look: impl FnOnce(&History, Extent) -> T) -> Result<T, Errno> {
    let (number, offset) = locate(address)?;
    let place = ARENAS[number].lock();
    let place = place.as_deref().filter(|_| offset == 0).ok_or(Errno::EINVAL)?;
    let history = place.arena.history();
    Ok(look(history, history.extent()))
}
