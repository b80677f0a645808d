//! Arenas and their semaphores: the memory, who may use it, and waiting.
//!
//! What a semaphore does is decided by `kcore::sema`, whose theory is the one to read. Here are the table of arenas, their
//! frames, the processes that joined, and the blocking.
//!
//! **One lock for an arena**, its place's in [`ARENAS`], guards the arena, its members and its waiters. Nothing refers to an
//! arena from outside: whoever gives up waiting takes the lock again, and a ticket tells whether the semaphore still is the one
//! that was meant. So an arena can go at any moment, with its last member.
//!
//! **Who may use it.** An address space is a member from `usinit` on, or from the fork that made it, until `usdetach`, exec
//! or its end; membership lies in the address space ([`Memberships`]), so that it comes and goes with the mapping. It is
//! looked at under the arena's lock, under which alone it changes.
//!
//! **Memory.** All frames are there from the beginning, and mapped at the same address everywhere. The kernel works on its own
//! mapping: what a process unmaps or protects is its own affair.
//!
//! **Who was woken** takes the lock again only where something is recorded in the arena, which it sees without it
//! ([`KEEPS_WAKES`]). Whoever begins to record says so before, whoever ends says so afterwards, both under the lock: a look that
//! finds nothing was at a moment at which nothing was recorded, and so the P had ended before the records began. Stores and
//! looks are sequentially consistent, so nobody can tell another order.
//!
//! **Names.** Whoever looks for a name, or adds one, holds the lock of the names, so that two processes that make an arena of
//! one name make one.
//!
//! **A token on its way.** An LWP that is killed after a V chose it, and before its P is back in user mode, passes the token
//! on. The last moment at which a kill is seen is the way out of the system call: there, what the call was and what it
//! returned tell whether a token goes with it ([`on_the_way_out`]).

mod join;
mod membership;
mod operate;
mod pages;
mod watch;

pub(crate) use join::{Wish, join, leave};
pub(crate) use membership::Memberships;
pub(crate) use operate::{
    Token, acquire, end, on_the_way_out, pass_on, re_initialise, release, switch_history,
};
pub(crate) use watch::{Watched, next_arena, next_semaphore, with_records};

use crate::proc::{Lwp, current_space, table};
use crate::sync::{Lock, Rank};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};
use kcore::sched::Slot;
use kcore::sema::{Arena, Ticket, Waiter, Waiters};
use pages::Pages;
use syscalls::Errno;
use syscalls::sema::{ARENA_SPAN, ARENAS as FIRST_ADDRESS, MOST_ARENAS};

/// The arenas by number: each lies at its number's addresses.
static ARENAS: [Lock<Option<Box<Place>>>; MOST_ARENAS] =
    [const { Lock::new(Rank::Arena, None) }; MOST_ARENAS];

/// By the arenas' numbers: whether there is anything to be recorded when somebody runs who was woken. Changes under the
/// arena's lock.
static KEEPS_WAKES: [AtomicBool; MOST_ARENAS] = [const { AtomicBool::new(false) }; MOST_ARENAS];

/// Held by whoever looks for a name, or adds one.
static NAMES: Lock<()> = Lock::new(Rank::ArenaNames, ());

/// An arena, and what processes have to do with it.
pub(crate) struct Place {
    pub(crate) arena: Arena,
    pub(crate) pages: Pages,
    /// Its number in the table.
    number: usize,
    name: Vec<u8>,
    /// Whether it can be found by its name.
    is_findable: bool,
    most_users: u32,
    /// Members that joined by themselves.
    users: u32,
    members: u32,
    /// LWPs that wait for its semaphores: while there are any, it stays.
    sleepers: u32,
}

impl Place {
    /// Switches, by `change`, what is recorded in the arena. Who was woken must not find that nothing is
    /// recorded while something is: so it is said before.
    pub(crate) fn change_records<T>(&mut self, change: impl FnOnce(&mut Place) -> T) -> T {
        let keeps_wakes = &KEEPS_WAKES[self.number];
        keeps_wakes.store(true, SeqCst);
        let result = change(self);
        keeps_wakes.store(self.arena.keeps_wakes(), SeqCst);
        result
    }

    fn is_deserted(&self) -> bool {
        self.members == 0 && self.sleepers == 0
    }

    /// The semaphore at an offset. EINVAL.
    #[inline]
    pub(crate) fn find(&self, offset: u64) -> Result<Ticket, Errno> {
        self.arena.find(&self.pages, offset)
    }
}

/// The waiters lie in the LWPs.
pub(crate) struct LwpWaiters;

impl Waiters for LwpWaiters {
    #[inline]
    fn waiter(&self, slot: Slot) -> &Waiter {
        let lwp: &'static Lwp = table::lwp(slot);
        &lwp.semaphore
    }
}

/// Where an arena of this number lies.
pub(crate) const fn address_of(number: usize) -> u64 {
    FIRST_ADDRESS + number as u64 * ARENA_SPAN
}

/// The number of the arena around an address, and the offset in it. EINVAL: no arena can be there.
#[inline]
fn locate(address: u64) -> Result<(usize, u64), Errno> {
    let beyond = address.wrapping_sub(FIRST_ADDRESS);
    let number = (beyond / ARENA_SPAN) as usize;
    if number < MOST_ARENAS { Ok((number, beyond % ARENA_SPAN)) } else { Err(Errno::EINVAL) }
}

/// Whether anything is to be recorded when somebody runs who was woken in the arena around an address. Needs no lock: who
/// switches the records says so before, and who is woken looks afterwards, or the two came at once.
#[inline]
fn keeps_wakes(address: u64) -> bool {
    locate(address).is_ok_and(|(number, _)| KEEPS_WAKES[number].load(SeqCst))
}

/// Calls `act` with the arena around an address, of which the running process is a member, and the offset in it, under the
/// arena's lock. EINVAL: there is none.
#[inline]
pub(crate) fn with_arena<T>(
    address: u64,
    act: impl FnOnce(&mut Place, u64) -> Result<T, Errno>,
) -> Result<T, Errno> {
    let (number, offset) = locate(address)?;
    let memberships = &current_space().arenas;
    let mut place = ARENAS[number].lock();
    match place.as_deref_mut() {
        Some(place) if memberships.has(number) => act(place, offset),
        _ => Err(Errno::EINVAL),
    }
}

/// The same for the address of the arena itself.
pub(crate) fn with_whole<T>(
    address: u64,
    act: impl FnOnce(&mut Place) -> Result<T, Errno>,
) -> Result<T, Errno> {
    with_arena(address, |place, offset| if offset == 0 { act(place) } else { Err(Errno::EINVAL) })
}

/// The same for a semaphore.
#[inline]
pub(crate) fn with_semaphore<T>(
    address: u64,
    act: impl FnOnce(&mut Place, Ticket) -> Result<T, Errno>,
) -> Result<T, Errno> {
    with_arena(address, |place, offset| {
        let ticket = place.find(offset)?;
        act(place, ticket)
    })
}
