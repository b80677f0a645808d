//! Where things are: the one place with the addresses of the kernel's half and the limits of the user's.
//!
//! | from | what |
//! |---|---|
//! | `USER_START` … `USER_END` | the program's own |
//! | `DIRECT_MAP` | all RAM, at its physical address plus `DIRECT_MAP`; never executable |
//! | `HEAP` | the kernel heap, grown by frames |
//! | `LWPS`, `PROCESSES` | the slots of LWPs and of processes, grown likewise |
//! | `STACKS` | kernel stacks, a hole below each |
//! | `DEVICES` | device registers, uncached |
//! | `KERNEL_BASE` | the kernel image, at its physical address plus `KERNEL_BASE` |

use core::ops::Range;

/// Bytes in a page.
pub(crate) const PAGE_SIZE: u64 = kcore::memory_map::PAGE_SIZE;

/// The first address that a program may map. What lies below catches null pointers.
pub(crate) const USER_START: u64 = 0x1_0000;
/// The end of the program's addresses. The last page below 2^47 is never mapped: a SYSCALL in its last bytes would
/// return to an address that is not canonical.
pub(crate) const USER_END: u64 = kcore::range::USER_END;

/// The stack of a new program: as far as it may grow.
pub(crate) const USER_STACK: Range<u64> = USER_END - (8 << 20)..USER_END;
/// Mappings without an address of their own lie below, with a hole of 1 MiB between them and the stack.
pub(crate) const USER_CEILING: u64 = USER_STACK.start - (1 << 20);

/// Physical address 0 of the direct map.
pub(crate) const DIRECT_MAP: u64 = 0xffff_8000_0000_0000;
/// The direct map is one top-level entry; memory beyond it is left alone.
pub(crate) const MAX_PHYSICAL: u64 = 1 << 39;
/// What the page tables of the boot code map: the frames of the final tables come from below.
pub(crate) const BOOT_MAPPED: u64 = 1 << 30;

/// The kernel heap's addresses.
pub(crate) const HEAP: Range<u64> = 0xffff_ff00_0000_0000..0xffff_ff1e_0000_0000;
/// The addresses of LWPs' slots.
pub(crate) const LWPS: Range<u64> = 0xffff_ff1e_0000_0000..0xffff_ff1f_0000_0000;
/// The addresses of processes' slots.
pub(crate) const PROCESSES: Range<u64> = 0xffff_ff1f_0000_0000..0xffff_ff20_0000_0000;
/// The kernel stacks' addresses.
pub(crate) const STACKS: Range<u64> = 0xffff_ff20_0000_0000..0xffff_ff60_0000_0000;
/// The device registers' addresses.
pub(crate) const DEVICES: Range<u64> = 0xffff_ff60_0000_0000..0xffff_ff80_0000_0000;

/// Physical address 0 of the image's mapping.
pub(crate) const KERNEL_BASE: u64 = 0xffff_ffff_8000_0000;

/// The top-level entries of the kernel's half that are ever used: the direct map's, the areas' and the image's.
/// They are filled at boot and never change, so that user page tables share them by copying.
pub(crate) const KERNEL_ENTRIES: [usize; 3] =
    [top_level_index(DIRECT_MAP), top_level_index(HEAP.start), top_level_index(KERNEL_BASE)];

const fn top_level_index(address: u64) -> usize {
    (address >> 39 & 511) as usize
}

const _: () = assert!(top_level_index(DEVICES.end - 1) == top_level_index(HEAP.start));
const _: () = assert!(HEAP.end == LWPS.start && LWPS.end == PROCESSES.start && PROCESSES.end == STACKS.start);
const _: () = assert!(STACKS.end == DEVICES.start);

/// Where the direct map shows a physical address.
pub(crate) fn direct<T>(physical: u64) -> *mut T {
    debug_assert!(physical < MAX_PHYSICAL);
    (DIRECT_MAP + physical) as *mut T
}

/// The physical address of a byte, if the pointer goes through the direct map.
pub(crate) fn physical(pointer: *const u8) -> Option<u64> {
    (pointer as u64).checked_sub(DIRECT_MAP).filter(|&physical| physical < MAX_PHYSICAL)
}

unsafe extern "C" {
    static __kernel_start: u8;
    static __text_start: u8;
    static __text_end: u8;
    static __rodata_start: u8;
    static __rodata_end: u8;
    static __data_start: u8;
    static __kernel_end: u8;
}

/// The image's executable part, as virtual addresses.
pub(crate) fn text() -> Range<u64> {
    &raw const __text_start as u64..&raw const __text_end as u64
}

/// The image's constant part.
pub(crate) fn rodata() -> Range<u64> {
    &raw const __rodata_start as u64..&raw const __rodata_end as u64
}

/// The image's writable part.
pub(crate) fn data() -> Range<u64> {
    &raw const __data_start as u64..&raw const __kernel_end as u64
}

/// The whole image, as physical addresses.
pub(crate) fn image_frames() -> Range<u64> {
    &raw const __kernel_start as u64 - KERNEL_BASE..&raw const __kernel_end as u64 - KERNEL_BASE
}

/// Whether an address lies in the kernel's half.
pub(crate) fn is_kernel_address(address: u64) -> bool {
    address >= DIRECT_MAP
}
