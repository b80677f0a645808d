//! Making, joining and leaving arenas.

use super::pages::Pages;
use super::{ARENAS, NAMES, Place, address_of, locate, with_whole};
use crate::mm::AddressSpace;
use crate::mm::heap::try_box;
use crate::proc::current_space;
use crate::time::rate;
use alloc::boxed::Box;
use alloc::vec::Vec;
use kcore::sema::Arena;
use syscalls::Errno;
use syscalls::sema::MOST_ARENAS;

/// What a new arena is to be.
pub(crate) struct Wish {
    pub(crate) name: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) most_users: u32,
    /// Whether other processes can join it by its name; else a new one is made in any case.
    pub(crate) is_findable: bool,
}

/// Joins the arena of a name, or makes it; returns its address. ENOSPC: so many processes as may have joined; ENOMEM: not
/// enough memory, or too many arenas.
pub(crate) fn join(wish: Wish) -> Result<u64, Errno> {
    if let Some(address) = join_existing(&wish)? {
        return Ok(address);
    }
    let place = make(wish)?; // which takes its time: not under a lock
    let _names = NAMES.lock();
    match find_and_join(&place.name, place.is_findable)? {
        Some(address) => Ok(address),
        None => install(place),
    }
}

fn join_existing(wish: &Wish) -> Result<Option<u64>, Errno> {
    let _names = NAMES.lock();
    find_and_join(&wish.name, wish.is_findable)
}

/// Joins the arena of a name, if there is one. With the lock of the names.
fn find_and_join(name: &[u8], is_findable: bool) -> Result<Option<u64>, Errno> {
    for place in ARENAS.iter().filter(|_| is_findable) {
        if let Some(place) = place.lock().as_deref_mut()
            && place.is_findable
            && place.name == name
        {
            place.let_in(current_space())?;
            return Ok(Some(address_of(place.number)));
        }
    }
    Ok(None)
}

fn make(wish: Wish) -> Result<Box<Place>, Errno> {
    try_box(Place {
        arena: Arena::new(wish.size, rate())?,
        pages: Pages::new(wish.size)?,
        number: MOST_ARENAS, // none yet
        name: wish.name,
        is_findable: wish.is_findable,
        most_users: wish.most_users,
        users: 0,
        members: 0,
        sleepers: 0,
    })
}

/// Gives a new arena a number, and lets the running process in. With the lock of the names, under which alone an arena
/// comes to a free place.
fn install(mut arena: Box<Place>) -> Result<u64, Errno> {
    let number = (0..MOST_ARENAS).find(|&number| ARENAS[number].lock().is_none()).ok_or(Errno::ENOMEM)?;
    let mut place = ARENAS[number].lock();
    arena.number = number;
    arena.change_records(|_| ()); // as those of the number's last arena were
    arena.let_in(current_space())?;
    *place = Some(arena);
    Ok(address_of(number))
}

impl Place {
    /// Makes an address space a member, unless it is one. ENOSPC, ENOMEM, and nothing has changed.
    fn let_in(&mut self, space: &AddressSpace) -> Result<(), Errno> {
        let number = self.number;
        if !space.arenas.has_joined(number) && self.users == self.most_users {
            return Err(Errno::ENOSPC);
        }
        if !space.arenas.has(number) {
            // Something else in its place is the program's own doing: no errno of its own.
            space.map_frames(address_of(number), self.pages.frames()).map_err(|_| Errno::ENOMEM)?;
        }
        space.arenas.join(number, self);
        Ok(())
    }
}

/// The running process leaves the arena at this address. EINVAL: it is no member; ENOMEM. Its memory goes first and without the
/// lock, since that lets interrupts in: an LWP beside that uses the arena meanwhile finds memory that is not there.
pub(crate) fn leave(address: u64) -> Result<(), Errno> {
    let (number, _) = locate(address)?;
    let length = with_whole(address, |place| Ok(place.pages.length()))?;
    current_space().unmap(address..address + length)?;
    let gone = { current_space().arenas.exit(number, &mut ARENAS[number].lock()) };
    drop(gone);
    Ok(())
}
