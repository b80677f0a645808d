//! Cached translations: the one place that makes CPUs forget them.
//!
//! Order, for every change that takes something away: change the entry, shoot down, and only then let go of the frame.

use core::ops::Range;
use core::sync::atomic::Ordering;

use x86_64::VirtAddr;
use x86_64::instructions::tlb::{flush, flush_all};
use x86_64::registers::control::{Cr3, Cr3Flags};
use x86_64::structures::paging::PhysFrame;

use super::layout::PAGE_SIZE;
use crate::arch;
use crate::cpu::{self, Here};

/// Beyond so many pages, forgetting everything is cheaper than page by page.
const MAX_SINGLE_PAGES: u64 = 16;

/// Makes this CPU translate by the top table at `root`.
///
/// # Safety
/// The table maps the running kernel, and stays until another is loaded.
pub(crate) unsafe fn load_root(root: u64) {
    Here::get().root.store(root, Ordering::SeqCst);
    let frame = PhysFrame::containing_address(x86_64::PhysAddr::new_truncate(root));
    // SAFETY: the caller's promise.
    unsafe { Cr3::write(frame, Cr3Flags::empty()) };
}

/// The physical address of the top table that this CPU translates by.
pub(crate) fn current_root() -> u64 {
    Cr3::read_raw().0.start_address().as_u64()
}

/// Makes every CPU that may have cached translations of `range` by the top table at `root` forget them. On return no
/// CPU uses the old ones.
pub(crate) fn shoot_down(root: u64, range: Range<u64>) {
    if current_root() == root {
        match (range.end - range.start) / PAGE_SIZE <= MAX_SINGLE_PAGES {
            true => flush_pages(range),
            false => flush_all(),
        }
    }
    cpu::flush_others(Some(root));
}

/// Makes this CPU forget the translations of `range`: where others may keep theirs, which permit less.
pub(crate) fn forget_here(range: Range<u64>) {
    flush_pages(range);
}

/// Makes every CPU forget all translations, those of the kernel's half too.
pub(crate) fn forget_kernel() {
    arch::flush_translations();
    cpu::flush_others(None);
}

fn flush_pages(range: Range<u64>) {
    range.step_by(PAGE_SIZE as usize).for_each(|address| flush(VirtAddr::new_truncate(address)));
}
