//! First writes to fresh anonymous pages.

use std::arch::asm;

use userlib::{Errno, raw};

use crate::measure::{BATCH, BATCHES, Outcome, batches, ticks};

const PAGE: u64 = 4096;

/// Touches 100 pages a batch, upwards through one mapping, so that most batches find the page table there already.
pub(crate) fn write_fault() -> Outcome {
    let length = BATCH * PAGE;
    let whole = (BATCHES as u64 + 1) * length;
    let start = map_anonymous(whole).map_err(|errno| errno.to_string())?;
    // SAFETY: the mapping's last part, touched once before it is measured again as what is there already.
    unsafe { touch(start + whole - length) };
    let mut next = start;
    let figure = batches(
        || {
            // SAFETY: the next 100 pages of the mapping.
            let ticks = unsafe { touch(next) };
            next += length;
            ticks
        },
        // SAFETY: pages of the mapping.
        || unsafe { touch(start + whole - length) },
    );
    // SAFETY: the mapping is this function's own and nothing refers to it.
    unsafe { raw::munmap(start, whole) };
    Ok(figure)
}

fn map_anonymous(length: u64) -> Result<u64, Errno> {
    const READ_WRITE: i32 = 3;
    const PRIVATE_ANONYMOUS: i32 = 0x22;
    // SAFETY: a new mapping where the kernel finds room.
    Errno::from_return(unsafe { raw::mmap(0, length, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0) })
}

/// Writes to one byte in each of 100 pages. Where they are there already, this is the loop's own cost, the writing
/// instruction included: what is left of the other figure is the fault alone.
///
/// # Safety
/// The pages are mapped and hold nothing that is used.
#[inline(never)]
unsafe fn touch(start: u64) -> u64 {
    let before = ticks();
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            "2:",
            "mov byte ptr [{page}], 1",
            "add {page}, 4096",
            "dec {left}",
            "jnz 2b",
            page = inout(reg) start => _,
            left = inout(reg) BATCH => _,
            options(nostack),
        );
    }
    ticks() - before
}
