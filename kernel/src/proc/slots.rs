//! Places that are made when they are first needed, never given back to memory, and used again: a reference to one is valid
//! for ever, and a number found anywhere can be looked up without a lock.
//!
//! The places lie one after the other from a fixed address on, and pages are mapped at the end as places are made. So a
//! look-up is arithmetic and reads no memory: queues are linked by numbers, and every step along them is one. **Tried and
//! refused:** a table of chunks from the heap, which cost each step two dependent loads.

use crate::mm::frames::{Budget, Frame};
use crate::mm::kernel_space::map_frame;
use crate::mm::layout::PAGE_SIZE;
use crate::sync::{Lock, Rank};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicUsize, Ordering};
use syscalls::Errno;

/// Places are made by this many.
const STEP: usize = 8;

/// At most `MOST` places, a multiple of [`STEP`], in an area of the kernel's addresses that begins at `START` and is large
/// enough.
pub(super) struct Slots<T: 'static, const START: u64, const MOST: usize> {
    /// How many places there are. Changes under the lock of `free`.
    count: AtomicUsize,
    free: Lock<Free>,
    make: Make<T>,
}

/// The places that are free, and what more can be made of.
struct Free {
    numbers: Vec<u32>,
    /// Bytes from the start on that have frames.
    mapped: u64,
}

/// Makes the place with a number where it is to be: on the stack it would take a third of it.
type Make<T> = fn(&mut MaybeUninit<T>, u32);

impl<T, const START: u64, const MOST: usize> Slots<T, START, MOST> {
    /// No places yet; `make` makes the one with a number.
    pub(super) const fn new(make: Make<T>) -> Self {
        assert!(MOST.is_multiple_of(STEP) && START.is_multiple_of(PAGE_SIZE));
        let free = Free { numbers: Vec::new(), mapped: 0 };
        Slots { count: AtomicUsize::new(0), free: Lock::new(Rank::Table, free), make }
    }

    /// The place with a number that came from [`Slots::take`].
    #[inline]
    pub(super) fn at(&self, number: u32) -> &'static T {
        debug_assert!((number as usize) < self.count(), "there is no place {number}");
        // SAFETY: numbers are handed out after their place was made, and places stay for ever.
        unsafe { &*Self::address(number as usize) }
    }

    /// How many places there are, free or not. Takes no lock.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// A free place, which is the caller's until [`Slots::give_back`]. EAGAIN: there are too many; ENOMEM.
    pub(super) fn take(&self) -> Result<&'static T, Errno> {
        let mut free = self.free.lock();
        if free.numbers.is_empty() {
            self.make_more(&mut free)?;
        }
        let number = free.numbers.pop().ok_or(Errno::EAGAIN)?;
        drop(free);
        Ok(self.at(number))
    }

    /// Frees a place.
    pub(super) fn give_back(&self, number: u32) {
        self.free.lock().numbers.push(number); // room was reserved when the place was made
    }

    #[inline]
    fn address(number: usize) -> *const T {
        (START as *const T).wrapping_add(number)
    }

    /// Not often: out of the way of who finds one that is free. What was mapped before memory ran out serves later.
    #[cold]
    #[inline(never)]
    fn make_more(&self, free: &mut Free) -> Result<(), Errno> {
        let before = self.count();
        if before == MOST {
            return Err(Errno::EAGAIN);
        }
        let total = before + STEP;
        free.numbers.try_reserve(total - free.numbers.len()).map_err(|_| Errno::ENOMEM)?;
        while free.mapped < (total * size_of::<T>()) as u64 {
            map_frame(START + free.mapped, Frame::allocate(Budget::Kernel)?)?;
            free.mapped += PAGE_SIZE;
        }
        for number in before..total {
            // SAFETY: mapped above, aligned as the start is, and nobody else's yet.
            let place = unsafe { &mut *Self::address(number).cast_mut().cast() };
            (self.make)(place, number as u32);
        }
        self.count.store(total, Ordering::Release);
        free.numbers.extend((before as u32..total as u32).rev());
        Ok(())
    }
}
