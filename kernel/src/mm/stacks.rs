//! Kernel stacks, each above a page that is never mapped: an overflow is a fault on a stack of its own (the double
//! fault's), not silent damage.
//!
//! A stack's place is a slot of the stack area. Stacks that were given back wait in a small cache, mapped, because
//! LWPs come and go; beyond that the frames go back and the slot's number waits in a list. The lists' room is
//! reserved when a slot is first used, so giving back never allocates.
//!
//! **Forgetting.** A CPU may still translate the addresses of a stack that was unmapped. Nobody uses those addresses until
//! the slot gets frames again, so it is enough that all CPUs forget them before that: once for many slots, while slots
//! that were never used serve in their place. Interrupting every CPU for each stack took most of the time where a thousand
//! processes ended together.
//!
//! **How large.** An LWP that is blocked costs the kernel its stack and little else, so a stack is one page. That is enough
//! because of how the kernel is made: it is entered with interrupts off and never preempted, so nothing comes on top of a
//! system call but a page fault in a copy, or interrupts in a stated window; nothing recurses; and what is large (arguments
//! of a new program, a pipe's bytes) lies on the heap. The deepest path, in which a parent that waits in `vfork` takes back
//! another process's memory and is interrupted, needs two thirds. The tests measure, and a quarter must stay free
//! ([`super::stack_depth`]).
//! Debug builds keep more on the stack and get four pages. **Tried and refused:** small stacks with a large one per CPU
//! to switch to for deep calls, since those may block or end in the middle; giving back the lower pages of blocked LWPs'
//! larger stacks, since each would have to be forgotten by all CPUs.

use alloc::vec::Vec;
use core::ops::Range;

use crate::sync::SpinMutex as Mutex;
use syscalls::Errno;

use super::frames::{Budget, Frame};
use super::kernel_space::{map_frame, unmap_frame};
use super::layout::{PAGE_SIZE, STACKS};
use super::{stack_depth, tlb};

/// Pages of a kernel stack.
const STACK_PAGES: u64 = if cfg!(debug_assertions) { 4 } else { 1 };

/// Bytes of a kernel stack.
pub(super) const STACK_SIZE: u64 = STACK_PAGES * PAGE_SIZE;

/// Mapped stacks that wait for their next user.
const CACHED: usize = 64;

/// So many slots wait before the CPUs are made to forget them.
const FORGOTTEN_AT_ONCE: usize = 512;

/// A slot: the unmapped page, then the stack.
const SLOT_SIZE: u64 = STACK_SIZE + PAGE_SIZE;

/// A mapped stack that nobody else uses; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct KernelStack {
    slot: u32,
}

struct Slots {
    /// The first slot that was never used.
    fresh: u32,
    /// Slots without frames that no CPU translates. Has room for every slot below `fresh`.
    empty: Vec<u32>,
    /// The same, but CPUs may still translate them.
    remembered: Vec<u32>,
    /// The first `cached_count` are slots with frames.
    cached: [u32; CACHED],
    cached_count: usize,
}

static SLOTS: Mutex<Slots> = Mutex::new(Slots {
    fresh: 0,
    empty: Vec::new(),
    remembered: Vec::new(),
    cached: [0; CACHED],
    cached_count: 0,
});

impl KernelStack {
    /// A stack; its bytes are whatever was on it.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn new() -> Result<KernelStack, Errno> {
        let slot = take_mapped()?;
        // SAFETY: the slot is mapped, and nobody has it yet.
        unsafe { stack_depth::fill(bytes(slot)) };
        Ok(KernelStack { slot })
    }

    /// Keeps the stack for good, and tells where it ends.
    pub(crate) fn keep(self) -> u64 {
        let top = self.top();
        core::mem::forget(self);
        top
    }

    /// The address above the stack's last byte, 16-byte aligned.
    pub(crate) fn top(&self) -> u64 {
        bytes(self.slot).end
    }
}

impl Drop for KernelStack {
    fn drop(&mut self) {
        stack_depth::check(bytes(self.slot));
        if !SLOTS.lock().put_cached(self.slot) {
            free_slot(self.slot);
        }
    }
}

/// The stack that an address lies on.
pub(super) fn around(address: u64) -> Option<Range<u64>> {
    let slot = address.checked_sub(STACKS.start)? / SLOT_SIZE;
    Some(bytes(slot as u32)).filter(|stack| STACKS.contains(&address) && stack.contains(&address))
}

/// Frames of the stacks in the cache: in use by nobody, though not free.
pub(crate) fn spare_frames() -> u64 {
    SLOTS.lock().cached_count as u64 * STACK_PAGES
}

/// Gives the frames of a spare stack back, if there is one. Under no lock but an address space's.
pub(super) fn release_spare() -> bool {
    let spare = SLOTS.lock().take_cached();
    spare.is_some_and(|slot| {
        free_slot(slot);
        true
    })
}

impl Slots {
    fn take_cached(&mut self) -> Option<u32> {
        self.cached_count = self.cached_count.checked_sub(1)?;
        Some(self.cached[self.cached_count])
    }

    fn put_cached(&mut self, slot: u32) -> bool {
        let Some(place) = self.cached.get_mut(self.cached_count) else { return false };
        *place = slot;
        self.cached_count += 1;
        true
    }

    fn take_empty(&mut self) -> Result<u32, Errno> {
        let slot = self.fresh;
        let is_full = bytes(slot).end > STACKS.end;
        if self.empty.is_empty() && (self.remembered.len() >= FORGOTTEN_AT_ONCE || is_full) {
            tlb::forget_kernel();
            core::mem::swap(&mut self.empty, &mut self.remembered);
        }
        if let Some(slot) = self.empty.pop() {
            return Ok(slot);
        }
        if is_full {
            return Err(Errno::ENOMEM);
        }
        for list in [&mut self.empty, &mut self.remembered] {
            list.try_reserve(slot as usize + 1 - list.len()).map_err(|_| Errno::ENOMEM)?;
        }
        self.fresh += 1;
        Ok(slot)
    }
}

/// Where the stack of a slot lies: above the page that is never mapped.
fn bytes(slot: u32) -> Range<u64> {
    let top = STACKS.start + (u64::from(slot) + 1) * SLOT_SIZE;
    top - STACK_SIZE..top
}

fn pages(slot: u32) -> impl Iterator<Item = u64> {
    bytes(slot).step_by(PAGE_SIZE as usize)
}

/// A slot with frames, which is the caller's.
fn take_mapped() -> Result<u32, Errno> {
    let mut slots = SLOTS.lock();
    if let Some(slot) = slots.take_cached() {
        return Ok(slot);
    }
    let slot = slots.take_empty()?;
    drop(slots);
    map_slot(slot).inspect_err(|_| free_slot(slot))?;
    Ok(slot)
}

/// Maps all pages of a slot, or some if memory runs out.
fn map_slot(slot: u32) -> Result<(), Errno> {
    pages(slot).try_for_each(|page| map_frame(page, Frame::allocate(Budget::Kernel)?))
}

/// Gives back the frames of a slot, and the slot.
fn free_slot(slot: u32) {
    for page in pages(slot) {
        // SAFETY: the slot has no owner, so nothing runs on the stack or points into it.
        drop(unsafe { unmap_frame(page) });
    }
    SLOTS.lock().remembered.push(slot);
}
