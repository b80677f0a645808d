//! Places that are made in chunks, never given back to the heap, and used again: a reference to one is valid for ever,
//! and a number found anywhere can be looked up without a lock.

use crate::sync::{Lock, Rank};
use alloc::alloc::{Layout, alloc};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use syscalls::Errno;

/// Places are made room for by this many.
pub(super) const CHUNK: usize = 8;

/// At most `CHUNKS` chunks of places.
pub(super) struct Slots<T: 'static, const CHUNKS: usize> {
    chunks: [AtomicPtr<T>; CHUNKS],
    /// How many chunks there are. Changes under the lock of `free`.
    count: AtomicUsize,
    /// The numbers of the free places.
    free: Lock<Vec<u32>>,
    make: Make<T>,
}

/// Makes the place with a number where it is to be: on the stack it would take a third of it.
type Make<T> = fn(&mut MaybeUninit<T>, u32);

impl<T, const CHUNKS: usize> Slots<T, CHUNKS> {
    /// No places yet; `make` makes the one with a number.
    pub(super) const fn new(make: Make<T>) -> Self {
        Slots {
            chunks: [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS],
            count: AtomicUsize::new(0),
            free: Lock::new(Rank::Table, Vec::new()),
            make,
        }
    }

    /// The place with a number that came from [`Slots::take`].
    #[inline]
    pub(super) fn at(&self, number: u32) -> &'static T {
        let chunk = self.chunks[number as usize / CHUNK].load(Ordering::Acquire);
        // SAFETY: numbers are handed out after their chunk was stored, and chunks stay for ever.
        unsafe { &*chunk.add(number as usize % CHUNK) }
    }

    /// How many places there are, free or not. Takes no lock.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire) * CHUNK
    }

    /// A free place, which is the caller's until [`Slots::give_back`]. EAGAIN: there are too many; ENOMEM.
    pub(super) fn take(&self) -> Result<&'static T, Errno> {
        let mut free = self.free.lock();
        if free.is_empty() {
            self.add_chunk(&mut free)?;
        }
        let number = free.pop().ok_or(Errno::EAGAIN)?;
        drop(free);
        Ok(self.at(number))
    }

    /// Frees a place.
    pub(super) fn give_back(&self, number: u32) {
        self.free.lock().push(number); // room was reserved when the place's chunk was made
    }

    /// Not often: out of the way of who finds one that is free.
    #[cold]
    #[inline(never)]
    fn add_chunk(&self, free: &mut Vec<u32>) -> Result<(), Errno> {
        let before = self.count.load(Ordering::Relaxed);
        if before == CHUNKS {
            return Err(Errno::EAGAIN);
        }
        let total = (before + 1) * CHUNK;
        free.try_reserve(total - free.len()).map_err(|_| Errno::ENOMEM)?;
        // SAFETY: places have a size.
        let chunk = unsafe { alloc(Layout::new::<[T; CHUNK]>()) }.cast::<MaybeUninit<T>>();
        if chunk.is_null() {
            return Err(Errno::ENOMEM);
        }
        let first = (before * CHUNK) as u32;
        for index in 0..CHUNK {
            // SAFETY: inside the memory that was just allocated for so many, and nobody else's yet.
            let place = unsafe { &mut *chunk.add(index) };
            (self.make)(place, first + index as u32);
        }
        self.chunks[before].store(chunk.cast(), Ordering::Release);
        self.count.store(before + 1, Ordering::Release);
        free.extend((first..first + CHUNK as u32).rev());
        Ok(())
    }
}
