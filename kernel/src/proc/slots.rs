//! Places that are made in chunks, never given back to the heap, and used again: a reference to one is valid for ever,
//! and a number found anywhere can be looked up without a lock.

use crate::sync::{Lock, Rank};
use alloc::alloc::{Layout, alloc};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicPtr, Ordering};
use syscalls::Errno;

/// Places are made room for by this many.
pub(super) const CHUNK: usize = 8;

/// At most `CHUNKS` chunks of places.
pub(super) struct Slots<T: 'static, const CHUNKS: usize> {
    chunks: [AtomicPtr<T>; CHUNKS],
    free: Lock<Free>,
    make: fn(u32) -> T,
}

struct Free {
    numbers: Vec<u32>,
    chunks: usize,
}

impl<T, const CHUNKS: usize> Slots<T, CHUNKS> {
    /// No places yet; `make` makes the one with a number.
    pub(super) const fn new(make: fn(u32) -> T) -> Self {
        Slots {
            chunks: [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS],
            free: Lock::new(Rank::Table, Free { numbers: Vec::new(), chunks: 0 }),
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

    /// How many places there are, free or not.
    pub(super) fn count(&self) -> usize {
        self.free.lock().chunks * CHUNK
    }

    /// A free place, which is the caller's until [`Slots::give_back`]. EAGAIN: there are too many; ENOMEM.
    pub(super) fn take(&self) -> Result<&'static T, Errno> {
        let mut free = self.free.lock();
        if free.numbers.is_empty() {
            self.add_chunk(&mut free)?;
        }
        let number = free.numbers.pop().ok_or(Errno::EAGAIN)?;
        drop(free);
        Ok(self.at(number))
    }

    /// Frees a place.
    pub(super) fn give_back(&self, number: u32) {
        self.free.lock().numbers.push(number); // room was reserved when the place's chunk was made
    }

    fn add_chunk(&self, free: &mut Free) -> Result<(), Errno> {
        if free.chunks == CHUNKS {
            return Err(Errno::EAGAIN);
        }
        let total = (free.chunks + 1) * CHUNK;
        free.numbers.try_reserve(total - free.numbers.len()).map_err(|_| Errno::ENOMEM)?;
        // SAFETY: places have a size.
        let chunk = unsafe { alloc(Layout::new::<[T; CHUNK]>()) }.cast::<T>();
        if chunk.is_null() {
            return Err(Errno::ENOMEM);
        }
        let first = (free.chunks * CHUNK) as u32;
        for index in 0..CHUNK {
            // In place, one by one: a chunk is larger than a kernel stack.
            // SAFETY: inside the memory that was just allocated for so many.
            unsafe { chunk.add(index).write((self.make)(first + index as u32)) };
        }
        self.chunks[free.chunks].store(chunk, Ordering::Release);
        free.numbers.extend((first..first + CHUNK as u32).rev());
        free.chunks += 1;
        Ok(())
    }
}
