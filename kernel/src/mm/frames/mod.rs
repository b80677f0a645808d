//! Frames: the machine's memory in pages, each counted.
//!
//! **Problem.** Give out and take back 4 KiB frames in constant time on machines from 64 MiB to 64 GiB and more,
//! without touching all of memory at boot, and let several page tables share one frame.
//!
//! **Free frames** are runs on one linked list. A run's first frame holds how many frames it has and where the next
//! run is; frames are taken off its end, so at boot only one frame per piece of the memory map is touched. A frame
//! given back becomes a run of one.
//!
//! **A [`Frame`] value is one reference** to an allocated frame: it cannot be copied, dropping it gives the
//! reference back, and the last one frees the frame. A page-table entry that holds a frame took the value by
//! [`Frame::into_address`] and owes a [`Frame::from_address`]. So "allocated minus free" is the number of values
//! and entries, and a leak is a missing drop.
//!
//! **Counts** are 16 bits per frame in an array sized by the memory map and cut from it. A count is written when its
//! frame is taken, never before, so the array needs no clearing. Counts are atomic and need no lock; the list is
//! under one. The order is that of every reference count: a holder's accesses happen before its decrement
//! (release), and the frame is freed after all decrements (acquire).
//!
//! **User pages run out first**: [`Budget::User`] leaves a small reserve that only the kernel's own needs may use.

mod pool;

use core::num::NonZeroU32;
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU16, Ordering, fence};

use crate::debug::fail;
use crate::sync::SpinMutex as Mutex;
use syscalls::{Errno, Failing};

use self::pool::Pool;
use super::layout::{self, BOOT_MAPPED, MAX_PHYSICAL, PAGE_SIZE};

/// One reference to an allocated frame. Dropping the last one frees the frame.
#[derive(Debug)]
#[must_use]
pub(crate) struct Frame(NonZeroU32);

/// Who asks for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// The kernel's own needs: may use the last frame.
    Kernel,
    /// Pages of programs and the tables that map them: stops at the reserve.
    User,
}

/// How many frames there are, and how they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Frames of ordinary memory that the machine has.
    pub ram: u64,
    /// Those that the allocator was given: all but the kernel image, the frames' counts, and what had to stay.
    pub total: u64,
    /// Frames that nobody holds.
    pub free: u64,
}

impl Usage {
    /// Frames that somebody took from the allocator and holds.
    pub(crate) fn used(&self) -> u64 {
        self.total - self.free
    }
}

static POOL: Mutex<Pool> = Mutex::new(Pool::new());

/// The count of frame 0; the counts of all frames follow.
static COUNTS: AtomicPtr<AtomicU16> = AtomicPtr::new(core::ptr::null_mut());

/// At most 4 MiB are kept from user pages.
const MAX_RESERVE: u64 = 1024;

/// Takes over `pieces` of free memory below [`BOOT_MAPPED`], and places the counts of all frames in one of them.
/// `pieces` must name all free memory; [`add_rest`] takes over what lies above once it is mapped.
///
/// # Errors
/// No piece is large enough for the counts.
///
/// # Safety
/// The pieces are RAM that nothing else uses, do not overlap, and are page-aligned; called once, while the boot page
/// tables are active.
pub(crate) unsafe fn init<I: Iterator<Item = Range<u64>>>(
    pieces: impl Fn() -> I,
) -> Result<(), &'static str> {
    let end = pieces().map(|piece| clip(piece, 0..MAX_PHYSICAL).end).max().unwrap_or(0);
    let bytes = (end / PAGE_SIZE * size_of::<u16>() as u64).next_multiple_of(PAGE_SIZE);
    let low = pieces().map(|piece| clip(piece, PAGE_SIZE..BOOT_MAPPED));
    let mut counts = None;
    let mut pool = POOL.lock();
    for mut piece in low {
        if counts.is_none() && piece.end - piece.start >= bytes {
            counts = Some(piece.start);
            piece.start += bytes;
        }
        // SAFETY: the caller's promise; the counts' frames were cut off.
        unsafe { pool.add(piece) };
    }
    let counts = layout::direct(counts.ok_or("no room for the frame counts")?);
    COUNTS.store(counts, Ordering::Relaxed);
    Ok(())
}

/// Takes over what [`init`] left: the pieces from [`BOOT_MAPPED`] on. The machine has `ram` frames in all.
///
/// # Safety
/// As for [`init`], with the same pieces; called once, after the direct map of all memory became active.
pub(crate) unsafe fn add_rest(pieces: impl Iterator<Item = Range<u64>>, ram: u64) {
    let mut pool = POOL.lock();
    pool.usage.ram = ram;
    for piece in pieces {
        // SAFETY: the caller's promise.
        unsafe { pool.add(clip(piece, BOOT_MAPPED..MAX_PHYSICAL)) };
    }
    pool.reserve = (pool.usage.total / 64).min(MAX_RESERVE);
}

/// The current figures.
pub(crate) fn usage() -> Usage {
    POOL.lock().usage
}

/// Asserts that the list has as many free frames as are counted.
pub(super) fn check() {
    let pool = POOL.lock();
    assert_eq!(pool.count(), pool.usage.free, "free frames and their count");
}

fn clip(piece: Range<u64>, window: Range<u64>) -> Range<u64> {
    let start = piece.start.max(window.start);
    start..piece.end.min(window.end).max(start)
}

impl Frame {
    /// The most references one frame can have.
    const MAX_REFERENCES: u16 = u16::MAX;

    /// Takes a free frame. Its bytes are whatever was in it.
    ///
    /// # Errors
    /// ENOMEM: no frame is free, or only the reserve and `budget` may not use it.
    pub(crate) fn allocate(budget: Budget) -> Result<Frame, Errno> {
        if fail::now(Failing::Allocation) {
            return Err(Errno::ENOMEM);
        }
        let number = Frame::take(budget).or_else(|| Frame::take_from_spare(budget)).ok_or(Errno::ENOMEM)?;
        let frame = Frame(number);
        frame.count().store(1, Ordering::Relaxed);
        Ok(frame)
    }

    fn take(budget: Budget) -> Option<NonZeroU32> {
        let mut pool = POOL.lock();
        let keep = match budget {
            Budget::Kernel => 0,
            Budget::User => pool.reserve,
        };
        pool.pop(keep)
    }

    /// Where programs have used up the rest, they get what the kernel keeps ready for its own next needs. (Kernel needs
    /// may arise under the locks that this takes.)
    #[cold]
    fn take_from_spare(budget: Budget) -> Option<NonZeroU32> {
        let released = budget == Budget::User && super::stacks::release_spare();
        released.then(|| Frame::take(budget)).flatten()
    }

    /// Takes a free frame and clears it.
    ///
    /// # Errors
    /// As [`Frame::allocate`].
    pub(crate) fn allocate_zeroed(budget: Budget) -> Result<Frame, Errno> {
        let frame = Frame::allocate(budget)?;
        // SAFETY: this is the only reference to the frame, and the direct map shows all of it.
        unsafe { clear_page(frame.pointer()) };
        Ok(frame)
    }

    /// One more reference to the same frame.
    ///
    /// # Errors
    /// ENOMEM: the frame has as many as can be counted.
    pub(crate) fn share(&self) -> Result<Frame, Errno> {
        let more = |count: u16| (count < Self::MAX_REFERENCES).then(|| count + 1);
        match self.count().fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Frame(self.0)),
            Err(_) => Err(Errno::ENOMEM),
        }
    }

    /// Whether there is any other reference. The answer "no" is final, as long as this one is not shared; it also
    /// makes visible what the holders of the former references wrote.
    pub(crate) fn is_shared(&self) -> bool {
        self.count().load(Ordering::Acquire) != 1
    }

    /// The frame's physical address.
    pub(crate) fn address(&self) -> u64 {
        u64::from(self.0.get()) * PAGE_SIZE
    }

    /// The frame's bytes, as the direct map shows them.
    pub(crate) fn pointer(&self) -> *mut u8 {
        layout::direct(self.address())
    }

    /// Turns the reference into a bare address, for a page-table entry to hold.
    pub(crate) fn into_address(self) -> u64 {
        let address = self.address();
        core::mem::forget(self);
        address
    }

    /// Takes back a reference that [`Frame::into_address`] turned into an address.
    ///
    /// # Safety
    /// `address` came from `into_address`, and each such reference is taken back at most once.
    pub(crate) unsafe fn from_address(address: u64) -> Frame {
        // SAFETY: a frame's number is never 0, and the caller vouches for the address.
        Frame(unsafe { NonZeroU32::new_unchecked((address / PAGE_SIZE) as u32) })
    }

    fn count(&self) -> &'static AtomicU16 {
        // SAFETY: the array has a count for every frame up to the highest that the pool was given, is never moved
        // or freed, and is only read where the frame was taken, which wrote its count.
        unsafe { &*COUNTS.load(Ordering::Relaxed).add(self.0.get() as usize) }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if self.count().fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        fence(Ordering::Acquire);
        // SAFETY: that was the last reference, so nothing uses the frame any more.
        unsafe { POOL.lock().push(self.0.get(), 1) };
    }
}

/// Clears a page: 512 stores of eight bytes, whatever the CPU's `rep stosb` is good at.
///
/// # Safety
/// `page` is page-aligned, writable and used by nobody else.
pub(crate) unsafe fn clear_page(page: *mut u8) {
    // SAFETY: writes exactly the caller's page; the direction flag is clear in kernel code.
    unsafe {
        core::arch::asm!(
            "rep stosq",
            inout("rcx") PAGE_SIZE / 8 => _,
            inout("rdi") page => _,
            in("rax") 0,
            options(nostack, preserves_flags),
        );
    }
}
