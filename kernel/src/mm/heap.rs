//! The kernel heap: an area of addresses that grows by frames when an allocation does not fit.
//!
//! Running out is an answer, never a panic: kernel code makes its objects with [`try_box`] and `try_reserve`, which
//! turn it into ENOMEM. Lock order: heap, kernel tables, frames; nothing allocates while it holds one of the latter.

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use crate::debug::fail;
use crate::sync::SpinMutex as Mutex;
use linked_list_allocator::Heap;
use syscalls::{Errno, Failing};

use super::frames::{self, Budget, Frame};
use super::kernel_space;
use super::layout::{HEAP, PAGE_SIZE};

/// The heap grows by at least so much.
const STEP: u64 = 16 * PAGE_SIZE;

struct KernelHeap(Mutex<Growing>);

struct Growing {
    heap: Heap,
    /// The first address of [`HEAP`] without a frame.
    end: u64,
}

#[global_allocator]
static KERNEL_HEAP: KernelHeap = KernelHeap(Mutex::new(Growing { heap: Heap::empty(), end: HEAP.start }));

// SAFETY: blocks come from the inner heap, which is under a lock and only ever given mapped memory of its own.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fail::now(Failing::Allocation) {
            return null_mut();
        }
        let mut growing = self.0.lock();
        growing.allocate(layout).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller got the block from `alloc` with this layout.
            unsafe { self.0.lock().heap.deallocate(block, layout) };
        }
    }
}

impl Growing {
    fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        if let Ok(block) = self.heap.allocate_first_fit(layout) {
            return Some(block);
        }
        let need = (layout.size() as u64).checked_add(layout.align() as u64 + PAGE_SIZE)?;
        self.grow(need.checked_next_multiple_of(PAGE_SIZE)?.max(STEP))?;
        self.heap.allocate_first_fit(layout).ok()
    }

    /// Appends `bytes` of fresh pages, or none if there are not so many. If another CPU takes them meanwhile, the heap
    /// keeps those it got for a later call.
    fn grow(&mut self, bytes: u64) -> Option<()> {
        if bytes > HEAP.end - self.end || bytes / PAGE_SIZE > frames::usage().free {
            return None;
        }
        let (start, target) = (self.end, self.end + bytes);
        while self.end < target && map_page(self.end).is_ok() {
            self.end += PAGE_SIZE;
        }
        let grown = (self.end - start) as usize;
        match self.heap.size() {
            _ if grown == 0 => {}
            // SAFETY: the pages were just mapped for the heap alone.
            0 => unsafe { self.heap.init(start as *mut u8, grown) },
            // SAFETY: likewise, and they follow the heap's last page.
            _ => unsafe { self.heap.extend(grown) },
        }
        (self.end == target).then_some(())
    }
}

fn map_page(address: u64) -> Result<(), Errno> {
    kernel_space::map_frame(address, Frame::allocate(Budget::Kernel)?)
}

/// Bytes of the heap in use.
pub(crate) fn used_bytes() -> usize {
    KERNEL_HEAP.0.lock().heap.used()
}

/// Moves `value` to the heap.
///
/// # Errors
/// ENOMEM; the value is dropped.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>, Errno> {
    let layout = Layout::new::<T>();
    if layout.size() == 0 {
        return Ok(Box::new(value));
    }
    // SAFETY: the layout is not empty.
    let block = unsafe { alloc::alloc::alloc(layout) }.cast::<T>();
    if block.is_null() {
        return Err(Errno::ENOMEM);
    }
    // SAFETY: the block is fresh, fits a `T`, and was allocated as `Box` does it.
    unsafe {
        block.write(value);
        Ok(Box::from_raw(block))
    }
}
