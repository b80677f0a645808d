//! Memory: frames, the kernel's half of all address spaces, the heap, kernel stacks, and the spaces of programs.
//!
//! **Locks**, outermost first: address space → heap or stack slots → kernel tables → frames. All are spin locks, taken
//! with interrupts off, and held over no call that can wait and over no user copy. Only the holder of an address space's
//! lets interrupts in now and then.

mod address_space;
mod check;
mod fault;
mod fork;
pub(crate) mod frames;
pub(crate) mod heap;
pub(crate) mod kernel_space;
pub(crate) mod layout;
mod map_frames;
mod put;
mod retired;
mod shared;
mod shared_frame;
pub(crate) mod stack_depth;
pub(crate) mod stacks;
mod table;
mod tlb;
pub(crate) mod user;
mod user_copy;
mod user_tables;

pub(crate) use address_space::AddressSpace;
pub(crate) use fault::FaultError;
pub(crate) use kcore::region::{Access, Kind, Movable, Place, Protection};
pub(crate) use kernel_space::activate as activate_kernel_space;
pub(crate) use shared::Shared;
pub(crate) use user_copy::fixup;

use core::ops::Range;

use kcore::memory_map::{PAGE_SIZE, free_pieces};

/// Takes over the machine's memory: frames, the final page tables, the heap.
///
/// `usable` are the ranges of RAM; `taken` what lies in them that must stay (the initial root archive, boot
/// information that is still needed, the place where other CPUs start; the kernel image is added here); `shown` are
/// ranges beside RAM that the direct map must show too, such as the firmware's tables. All are physical, in any
/// order.
///
/// # Errors
/// What is missing, in words.
///
/// # Safety
/// Called once, on the boot CPU and the boot page tables. The ranges tell the truth, and usable ones do not overlap.
/// Afterwards the identity map is gone.
pub(crate) unsafe fn init(
    usable: impl Iterator<Item = Range<u64>> + Clone,
    taken: &[Range<u64>],
    shown: impl Iterator<Item = Range<u64>>,
) -> Result<(), &'static str> {
    let image = [layout::image_frames()];
    let pieces =
        || free_pieces(usable.clone(), &image).flat_map(|piece| free_pieces(core::iter::once(piece), taken));
    // SAFETY: the caller's promise; `pieces` leaves out the image and what is taken.
    unsafe { frames::init(pieces)? };
    // SAFETY: as above; the frames that exist so far are below 1 GiB.
    unsafe { kernel_space::build(usable.clone().chain(shown)) }.map_err(|_| "no room for the page tables")?;
    let ram = free_pieces(usable.clone(), &[]).map(|piece| (piece.end - piece.start) / PAGE_SIZE).sum();
    // SAFETY: the direct map now shows all RAM.
    unsafe { frames::add_rest(pieces(), ram) };
    Ok(())
}

/// Writes to the log how much memory is used, for tests to compare. Debug builds count the free frames first.
pub(crate) fn log_usage() {
    if cfg!(debug_assertions) {
        frames::check();
    }
    let usage = frames::usage();
    log::info!(
        "memory: {} of {} frames in use, {} of them in spare stacks, {} bytes of heap",
        usage.used(),
        usage.total,
        stacks::spare_frames(),
        heap::used_bytes(),
    );
    stack_depth::log_deepest();
}
