//! Supervisor-mode access prevention: `stac` and `clac` are written into the code where the CPU has them.
//!
//! A CPU without SMAP faults on both instructions, and testing for it at every user copy would cost more than the copy.
//! So the places are three-byte no-operations, listed in two sections, until boot has seen the CPU.

const STAC: [u8; 3] = [0x0f, 0x01, 0xcb];
const CLAC: [u8; 3] = [0x0f, 0x01, 0xca];

unsafe extern "C" {
    static __stac_sites_start: u64;
    static __stac_sites_end: u64;
    static __clac_sites_start: u64;
    static __clac_sites_end: u64;
}

/// Writes both instructions to their places.
///
/// # Safety
/// The code is writable, and no other CPU runs.
pub(super) unsafe fn write_instructions() {
    // SAFETY: the linker script brackets each list; every entry is the address of three bytes of code kept for this.
    unsafe {
        write(&raw const __stac_sites_start, &raw const __stac_sites_end, STAC);
        write(&raw const __clac_sites_start, &raw const __clac_sites_end, CLAC);
    }
}

/// # Safety
/// As [`write_instructions`], for the list from `start` to `end`.
unsafe fn write(start: *const u64, end: *const u64, instruction: [u8; 3]) {
    let mut site = start;
    while site < end {
        // SAFETY: by the contract.
        unsafe {
            (*site as *mut [u8; 3]).write(instruction);
            site = site.add(1);
        }
    }
}
