//! Which arenas an address space is a member of.

use super::{ARENAS, Place};
use crate::sync::Guard;
use alloc::boxed::Box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use kcore::bits::ones;
use syscalls::sema::MOST_ARENAS;

const WORDS: usize = MOST_ARENAS / 64;

/// A set of arenas' numbers.
struct Numbers([AtomicU64; WORDS]);

impl Numbers {
    const fn new() -> Self {
        Numbers([const { AtomicU64::new(0) }; WORDS])
    }

    #[inline]
    fn has(&self, number: usize) -> bool {
        self.0[number / 64].load(Relaxed) & 1 << (number % 64) != 0
    }

    fn set(&self, number: usize) {
        self.0[number / 64].fetch_or(1 << (number % 64), Relaxed);
    }

    /// Takes a number out; whether it was in.
    fn take(&self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        self.0[number / 64].fetch_and(!bit, Relaxed) & bit != 0
    }

    /// The numbers that are in it, word by word: most processes have none.
    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(index, word)| ones(word.load(Relaxed)).map(move |bit| index * 64 + bit as usize))
    }
}

/// The arenas of an address space. Each number changes under its arena's lock. Dropping it leaves all.
pub(crate) struct Memberships {
    all: Numbers,
    /// Those that it joined by itself.
    joined: Numbers,
}

impl Memberships {
    /// None.
    pub(crate) const fn new() -> Self {
        Memberships { all: Numbers::new(), joined: Numbers::new() }
    }

    /// Whether it is a member of this arena. With the arena's lock.
    #[inline]
    pub(super) fn has(&self, number: usize) -> bool {
        self.all.has(number)
    }

    /// Whether it joined this arena by itself. With the arena's lock.
    pub(super) fn has_joined(&self, number: usize) -> bool {
        self.joined.has(number)
    }

    /// It is a member now. With the arena's lock.
    pub(super) fn enter(&self, number: usize, place: &mut Place) {
        if !self.has(number) {
            self.all.set(number);
            place.members += 1;
        }
    }

    /// It has joined by itself. With the arena's lock.
    pub(super) fn join(&self, number: usize, place: &mut Place) {
        self.enter(number, place);
        if !self.has_joined(number) {
            self.joined.set(number);
            place.users += 1;
        }
    }

    /// It is no member any more; hands out the arena if that was the last one, to be dropped without the lock.
    pub(super) fn exit(
        &self,
        number: usize,
        place: &mut Guard<'_, Option<Box<Place>>>,
    ) -> Option<Box<Place>> {
        let arena = place.as_deref_mut()?;
        if self.all.take(number) {
            arena.members -= 1;
        }
        if self.joined.take(number) {
            arena.users -= 1;
        }
        if arena.is_deserted() { place.take() } else { None }
    }

    /// A copy of the address space, with the memory of all arenas, is a member of them too.
    pub(crate) fn inherit(&self, child: &Memberships) {
        for number in self.all.iter() {
            if let Some(place) = ARENAS[number].lock().as_deref_mut()
                && self.has(number)
            {
                child.enter(number, place);
            }
        }
    }

    /// Leaves all arenas.
    pub(crate) fn leave_all(&self) {
        for number in self.all.iter() {
            let gone = { self.exit(number, &mut ARENAS[number].lock()) };
            drop(gone);
        }
    }
}

impl Drop for Memberships {
    fn drop(&mut self) {
        self.leave_all();
    }
}
