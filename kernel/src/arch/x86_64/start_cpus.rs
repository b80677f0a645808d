//! Waking the other CPUs: INIT, a pause, START, and the way into Rust on a stack of their own.
//!
//! One CPU at a time, since they share the mailbox. The pauses are slept through, not spun out: the emulator that
//! counts instructions lets another CPU run only when this one waits.

use super::apic::{self, Command};
use super::context::CpuArea;
use crate::mm::layout::{PAGE_SIZE, direct};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    static ap_start: u8;
    static ap_end: u8;
    static ap_mailbox: [AtomicU64; 3];
}

/// Pages in which real mode can start: below 640 KiB, not the first.
const CANDIDATES: Range<u64> = 0x1000..0x9_f000;

/// A page for [`wake`], in memory and not reserved.
pub(crate) fn choose_start_page(
    memory: impl Iterator<Item = Range<u64>> + Clone,
    reserved: &[Range<u64>],
) -> Option<u64> {
    let free = |page: &u64| {
        let overlaps = |range: &Range<u64>| range.start < page + PAGE_SIZE && *page < range.end;
        memory.clone().any(|range| range.start <= *page && page + PAGE_SIZE <= range.end)
            && !reserved.iter().any(overlaps)
    };
    CANDIDATES.step_by(PAGE_SIZE as usize).find(free)
}

/// Copies the code that CPUs wake in to `page`.
///
/// # Safety
/// The page came from [`choose_start_page`] and is nobody else's.
pub(crate) unsafe fn prepare_start_page(page: u64) {
    let (start, end) = (&raw const ap_start, &raw const ap_end);
    // SAFETY: the code lies between the two symbols and is smaller than the page, which is ours.
    unsafe { core::ptr::copy_nonoverlapping(start, direct(page), end as usize - start as usize) };
}

/// Puts CPU `apic_id` into the state in which it can be started. It takes 10 ms to get there.
pub(crate) fn reset(apic_id: u8) {
    apic::command(apic_id, Command::Init);
}

/// Starts a CPU that was reset, in `page`, on the page table at `root`, on the stack below `stack_top`, as the CPU
/// whose area is `area`. To be repeated once, where it does not answer within 200 µs.
pub(crate) fn wake(apic_id: u8, page: u64, root: u64, stack_top: u64, area: &'static CpuArea) {
    // SAFETY: the mailbox is three aligned words, read by the one CPU that is woken.
    let mailbox = unsafe { &ap_mailbox };
    mailbox[0].store(root, Ordering::Relaxed);
    mailbox[1].store(stack_top, Ordering::Relaxed);
    mailbox[2].store(core::ptr::from_ref(area).addr() as u64, Ordering::Release);
    apic::command(apic_id, Command::Start((page / PAGE_SIZE) as u8));
}
