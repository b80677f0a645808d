//! The slots of LWPs: found by number, by tid, and used again.

use super::lwp::Lwp;
use super::slots::Slots;
use crate::mm::layout;
use crate::sync::{Lock, Rank};
use alloc::alloc::{Layout, alloc_zeroed};
use core::sync::atomic::{AtomicPtr, Ordering};
use kcore::ids::{IdAllocator, Ids, Leaf, Leaves};
use kcore::sched::{Link, Links, Slot};
use syscalls::Errno;

/// So many LWPs there can be.
pub(crate) const MOST_LWPS: usize = 1 << 16;

const _: () = assert!(MOST_LWPS * size_of::<Lwp>() <= (layout::LWPS.end - layout::LWPS.start) as usize);

static LWPS: Slots<Lwp, { layout::LWPS.start }, MOST_LWPS> = Slots::new(|place, number| {
    place.write(Lwp::free(Slot::new(number)));
});

/// Which slot has which tid. Looked up without a lock.
static IDS: Ids<HeapLeaves> = Ids::new(HeapLeaves);
static ID_CHANGES: Lock<IdAllocator> = Lock::new(Rank::Table, IdAllocator::new());

/// The id table's leaves, on the heap, for ever.
struct HeapLeaves;

static LEAVES: [AtomicPtr<Leaf>; kcore::ids::LEAVES] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; kcore::ids::LEAVES];

impl Leaves for HeapLeaves {
    #[inline]
    fn leaf(&self, index: usize) -> Option<&Leaf> {
        // SAFETY: a leaf that was stored stays for ever.
        unsafe { LEAVES[index].load(Ordering::Acquire).as_ref() }
    }

    fn add(&self, index: usize) -> Result<&Leaf, Errno> {
        // SAFETY: the layout has a size; a new leaf is all zero.
        let leaf = unsafe { alloc_zeroed(Layout::new::<Leaf>()) }.cast::<Leaf>();
        // SAFETY: null, or a leaf that nobody frees.
        let found = unsafe { leaf.as_ref() }.ok_or(Errno::ENOMEM)?;
        LEAVES[index].store(leaf, Ordering::Release);
        Ok(found)
    }
}

/// The LWP, or free place, with number `slot`, which came from a living LWP.
#[inline]
pub(crate) fn lwp(slot: Slot) -> &'static Lwp {
    LWPS.at(slot.number())
}

/// The place where the LWP with this tid was when the caller looked. Its ledger tells whether it still is.
#[inline]
pub(crate) fn find(tid: u32) -> Option<&'static Lwp> {
    IDS.lookup(tid).map(lwp)
}

/// The links of the run queues, which lie in the LWPs.
pub(crate) struct LwpLinks;

impl Links for LwpLinks {
    #[inline]
    fn link(&self, slot: Slot) -> &Link {
        &lwp(slot).link
    }
}

/// How many slots there are, free or not.
pub(crate) fn slot_count() -> usize {
    LWPS.count()
}

/// A free slot, which is the caller's until [`give_back`]. EAGAIN, ENOMEM.
pub(super) fn take() -> Result<&'static Lwp, Errno> {
    LWPS.take()
}

/// Frees a slot whose LWP has ended or never began.
pub(super) fn give_back(lwp: &'static Lwp) {
    LWPS.give_back(lwp.slot.number());
}

/// A new id from the sequence of pids and tids, which names nothing yet.
pub(super) fn new_id() -> Result<u32, Errno> {
    ID_CHANGES.lock().allocate(&IDS)
}

/// Lets an id name a slot whose LWP can be found from now on.
pub(super) fn name(id: u32, slot: Slot) {
    IDS.set(id, slot);
}

/// Lets an id, which stays taken, name nothing: its LWP has ended.
pub(super) fn unname(id: u32) {
    IDS.clear(id);
}

/// Frees an id that nothing refers to any more.
pub(super) fn free_id(id: u32) {
    ID_CHANGES.lock().free(&IDS, id);
}
