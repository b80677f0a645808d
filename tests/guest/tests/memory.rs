//! Mappings: contents, permissions, splitting, errors. A test asks the kernel whether memory may be read or written,
//! by calls that would have to; what the CPU itself refuses ends a program and is tested from outside.

use guest::{PAGE, Pages, call};
use libc::{
    MAP_ANONYMOUS, MAP_FIXED, MAP_PRIVATE, MAP_SHARED, MREMAP_MAYMOVE, PROT_EXEC, PROT_NONE, PROT_READ,
    PROT_WRITE,
};
use syscalls::number;
use userlib::Errno;

const READ_WRITE: i32 = PROT_READ | PROT_WRITE;
const PRIVATE: i32 = MAP_PRIVATE | MAP_ANONYMOUS;

fn mmap(address: u64, length: u64, protection: i32, flags: i32) -> Result<u64, Errno> {
    let arguments = [address, length, protection as u64, flags as u64, u64::MAX, 0];
    // SAFETY: the tests map where nothing is, or fixed over their own pages.
    unsafe { call(number::mmap, &arguments) }
}

fn munmap(address: u64, length: u64) -> Result<u64, Errno> {
    // SAFETY: the tests unmap their own pages.
    unsafe { call(number::munmap, &[address, length]) }
}

fn mremap(address: u64, old: u64, new: u64, flags: i32, to: u64) -> Result<u64, Errno> {
    // SAFETY: the tests move their own pages.
    unsafe { call(number::mremap, &[address, old, new, flags as u64, to]) }
}

fn madvise(address: u64, length: u64, advice: i32) -> Result<u64, Errno> {
    // SAFETY: the tests advise on their own pages.
    unsafe { call(number::madvise, &[address, length, advice as u64]) }
}

/// Whether the kernel may write a byte there for the program.
fn writable(address: u64) -> bool {
    // SAFETY: a test's own memory, where it is memory at all.
    let result = unsafe { call(number::getrandom, &[address, 1, 0]) };
    assert!(matches!(result, Ok(1) | Err(Errno::EFAULT)), "{result:?}");
    result.is_ok()
}

/// Whether the kernel may read there for the program.
fn readable(address: u64) -> bool {
    // SAFETY: an interval of no length, or an improper one, or none: nothing is slept for.
    let result = unsafe { call(number::clock_nanosleep, &[1, libc::TIMER_ABSTIME as u64, address, 0]) };
    assert!(matches!(result, Ok(0) | Err(Errno::EFAULT | Errno::EINVAL)), "{result:?}");
    result != Err(Errno::EFAULT)
}

#[test]
fn fresh_memory_is_zero_and_keeps_what_is_written() {
    let pages = Pages::new(64);
    assert!((0..64 * PAGE).all(|offset| pages.read(offset) == 0));
    (0..64 * PAGE).for_each(|offset| pages.write(offset, (offset % 251) as u8));
    assert!((0..64 * PAGE).all(|offset| pages.read(offset) == (offset % 251) as u8));
}

#[test]
fn memory_that_is_mapped_again_is_zero_again() {
    for _ in 0..64 {
        let start = mmap(0, 16 * PAGE, READ_WRITE, PRIVATE).expect("mmap");
        for page in 0..16 {
            let word = (start + page * PAGE) as *mut u64;
            // SAFETY: pages of this mapping.
            unsafe {
                assert_eq!(word.read_volatile(), 0);
                word.write_volatile(u64::MAX);
            }
        }
        munmap(start, 16 * PAGE).expect("munmap");
    }
}

#[test]
fn two_mappings_do_not_overlap() {
    let map = |count| (mmap(0, count * PAGE, READ_WRITE, PRIVATE).expect("mmap"), count * PAGE);
    let mut mappings: Vec<(u64, u64)> = (1..=32).map(map).collect();
    mappings.sort_unstable();
    assert!(mappings.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{mappings:x?}");
    for (start, length) in mappings {
        assert_eq!(start % PAGE, 0);
        munmap(start, length).expect("munmap");
    }
}

#[test]
fn a_length_is_rounded_up_to_pages() {
    let start = mmap(0, PAGE + 1, READ_WRITE, PRIVATE).expect("mmap");
    assert!(writable(start + 2 * PAGE - 1));
    munmap(start, 1).expect("munmap of the first page");
    assert!(!readable(start));
    assert!(writable(start + PAGE));
    munmap(start, 2 * PAGE).expect("munmap over a hole");
    assert!(!readable(start + PAGE));
}

#[test]
fn bad_arguments_are_refused() {
    let pages = Pages::new(1);
    let place = pages.page(0);
    assert_eq!(mmap(0, 0, READ_WRITE, PRIVATE), Err(Errno::EINVAL), "no length");
    assert_eq!(mmap(place + 1, PAGE, READ_WRITE, PRIVATE | MAP_FIXED), Err(Errno::EINVAL), "unaligned");
    assert_eq!(mmap(0, PAGE, READ_WRITE, MAP_ANONYMOUS), Err(Errno::EINVAL), "neither private nor shared");
    assert_eq!(mmap(0, PAGE, READ_WRITE, MAP_PRIVATE), Err(Errno::EBADF), "no file");
    assert_eq!(munmap(place + 1, PAGE), Err(Errno::EINVAL), "unaligned");
    assert_eq!(munmap(place, 0), Err(Errno::EINVAL), "no length");
    assert_eq!(mremap(place + 1, PAGE, PAGE, MREMAP_MAYMOVE, 0), Err(Errno::EINVAL), "unaligned");
    assert_eq!(mremap(place, PAGE, 0, MREMAP_MAYMOVE, 0), Err(Errno::EINVAL), "no length");
    assert_eq!(madvise(place + 1, PAGE, libc::MADV_DONTNEED), Err(Errno::EINVAL), "unaligned");
    assert_eq!(madvise(place, PAGE, 999), Err(Errno::EINVAL), "no such advice");
    // SAFETY: refused.
    assert_eq!(unsafe { call(number::mprotect, &[place + 1, PAGE, 0]) }, Err(Errno::EINVAL), "unaligned");
}

#[test]
fn too_much_is_enomem() {
    for length in [1 << 47, 0x7fff_ffff_0000, 1 << 62, i64::MAX as u64, u64::MAX - PAGE, u64::MAX] {
        assert_eq!(mmap(0, length, READ_WRITE, PRIVATE), Err(Errno::ENOMEM), "{length:#x} bytes");
    }
    let pages = Pages::new(1);
    let grown = mremap(pages.page(0), PAGE, 1 << 47, MREMAP_MAYMOVE, 0);
    assert!(matches!(grown, Err(Errno::ENOMEM | Errno::EINVAL)), "{grown:?}");
    assert!(writable(pages.page(0)), "what was there is there");
}

/// (Red where user space ends one page higher.)
#[test]
fn k34_the_last_page_of_the_lower_half_is_never_mapped() {
    for (start, length) in [
        (0x7fff_ffff_f000, PAGE),
        (0x7fff_ffff_e000, 2 * PAGE),
        (0x8000_0000_0000, PAGE),
        (0xffff_8000_0000_0000, PAGE),
        (0xffff_ffff_ffff_f000, PAGE),
    ] {
        for protection in [PROT_NONE, READ_WRITE, PROT_READ | PROT_EXEC] {
            let result = mmap(start, length, protection, PRIVATE | MAP_FIXED);
            assert!(matches!(result, Err(Errno::ENOMEM | Errno::EINVAL)), "{start:#x}: {result:x?}");
        }
        let hinted =
            mmap(start, PAGE, READ_WRITE, PRIVATE).expect("a hint that cannot be followed is no error");
        assert!(hinted < 0x7fff_ffff_f000);
        munmap(hinted, PAGE).expect("munmap");
    }
    let pages = Pages::new(1);
    let moved = mremap(pages.page(0), PAGE, PAGE, MREMAP_MAYMOVE | libc::MREMAP_FIXED, 0x7fff_ffff_f000);
    assert!(matches!(moved, Err(Errno::ENOMEM | Errno::EINVAL)), "{moved:x?}");
}

#[test]
fn a_fixed_mapping_replaces_what_was_there() {
    let pages = Pages::new(3);
    pages.fill(7);
    mmap(pages.page(1), PAGE, PROT_READ, PRIVATE | MAP_FIXED).expect("mmap");
    assert_eq!([pages.read(0), pages.read(PAGE), pages.read(2 * PAGE)], [7, 0, 7]);
    assert!(writable(pages.page(0)) && !writable(pages.page(1)) && writable(pages.page(2)));
}

#[test]
fn unmapping_the_middle_leaves_the_rest() {
    let pages = Pages::new(5);
    pages.fill(9);
    pages.unmap(2, 1).expect("munmap");
    assert!(!readable(pages.page(2)));
    assert_eq!([0, 1, 3, 4].map(|page| pages.read(page * PAGE)), [9; 4]);
    pages.unmap(0, 5).expect("munmap over a hole");
    assert!((0..5).all(|page| !readable(pages.page(page))));
    pages.unmap(0, 5).expect("munmap of nothing");
}

#[test]
fn permissions_are_obeyed_page_by_page() {
    let pages = Pages::new(4);
    pages.fill(3);
    pages.protect(1, 1, PROT_READ).expect("mprotect");
    pages.protect(2, 1, PROT_NONE).expect("mprotect");
    let seen =
        (0..4).map(|page| (readable(pages.page(page)), writable(pages.page(page)))).collect::<Vec<_>>();
    assert_eq!(seen, [(true, true), (true, false), (false, false), (true, true)]);
    pages.protect(0, 4, READ_WRITE).expect("mprotect");
    assert_eq!([1, 2].map(|page| pages.read(page * PAGE + 8)), [3, 3], "contents survive");
    assert!((0..4).all(|page| writable(pages.page(page))));
}

#[test]
fn permissions_hold_for_pages_that_were_never_touched() {
    let pages = Pages::new(2);
    pages.protect(0, 1, PROT_READ).expect("mprotect");
    assert!(readable(pages.page(0)) && !writable(pages.page(0)));
    assert_eq!(pages.read(0), 0);
    assert!(!writable(pages.page(0)), "not after it was read either");
    pages.protect(0, 1, READ_WRITE).expect("mprotect");
    pages.write(0, 1);
    assert_eq!(pages.read(0), 1);
}

#[test]
fn protecting_over_a_hole_is_enomem() {
    let pages = Pages::new(3);
    pages.unmap(1, 1).expect("munmap");
    assert_eq!(pages.protect(0, 3, PROT_READ), Err(Errno::ENOMEM));
    assert_eq!(pages.protect(1, 1, PROT_READ), Err(Errno::ENOMEM));
}

#[test]
fn code_can_be_written_and_then_executed() {
    let pages = Pages::new(1);
    // mov eax, 42; ret
    [0xb8, 42, 0, 0, 0, 0xc3].iter().zip(0..).for_each(|(&byte, offset)| pages.write(offset, byte));
    pages.protect(0, 1, PROT_READ | PROT_EXEC).expect("mprotect");
    assert!(!writable(pages.page(0)));
    // SAFETY: the page holds a function with this signature and may be executed.
    let answer = unsafe { std::mem::transmute::<u64, extern "C" fn() -> i32>(pages.page(0)) };
    assert_eq!(answer(), 42);
    // Other code in the same place is seen at once.
    pages.protect(0, 1, READ_WRITE).expect("mprotect");
    pages.write(1, 43);
    pages.protect(0, 1, PROT_READ | PROT_EXEC).expect("mprotect");
    assert_eq!(answer(), 43);
}

#[test]
fn a_mapping_grows_shrinks_and_moves_with_its_contents() {
    let start = mmap(0, 4 * PAGE, READ_WRITE, PRIVATE).expect("mmap");
    let byte = |at: u64| at as *mut u8;
    // SAFETY: pages of this mapping.
    (0..4).for_each(|page| unsafe { byte(start + page * PAGE).write_volatile(page as u8 + 1) });

    let shrunk = mremap(start, 4 * PAGE, 2 * PAGE, 0, 0).expect("shrinks in place");
    assert_eq!(shrunk, start);
    assert!(!readable(start + 2 * PAGE));

    let grown = mremap(start, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE, 0).expect("grows");
    // SAFETY: pages of the mapping where it is now.
    let values = [0, 1, 2, 63].map(|page| unsafe { byte(grown + page * PAGE).read_volatile() });
    assert_eq!(values, [1, 2, 0, 0]);
    assert!(grown == start || !readable(start), "nothing stays behind");
    munmap(grown, 64 * PAGE).expect("munmap");
}

#[test]
fn a_mapping_that_may_not_move_grows_only_into_free_space() {
    let pages = Pages::new(3);
    assert_eq!(mremap(pages.page(0), PAGE, 2 * PAGE, 0, 0), Err(Errno::ENOMEM), "the next page is taken");
    pages.unmap(1, 1).expect("munmap");
    assert_eq!(mremap(pages.page(0), PAGE, 2 * PAGE, 0, 0), Ok(pages.page(0)));
    assert!(writable(pages.page(1)));
}

#[test]
fn a_mapping_moves_where_it_is_told() {
    let (from, to) = (Pages::new(2), Pages::new(2));
    from.fill(5);
    to.fill(6);
    let moved = mremap(from.page(0), 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | libc::MREMAP_FIXED, to.page(0));
    assert_eq!(moved, Ok(to.page(0)));
    assert_eq!([to.read(0), to.read(2 * PAGE - 1)], [5, 5]);
    assert!(!readable(from.page(0)));
}

#[test]
fn moving_what_is_not_mapped_is_efault() {
    let pages = Pages::new(2);
    pages.unmap(0, 2).expect("munmap");
    assert_eq!(mremap(pages.page(0), PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0), Err(Errno::EFAULT));
}

/// K33: lengths and addresses whose sums leave 64 bits. (Red on the checked kernel where one of them is not looked at.)
#[test]
fn k33_sums_beyond_all_addresses_are_refused() {
    let fixed = MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    for (high, length) in [(u64::MAX << 40, 1 << 41), (u64::MAX << 13, 1 << 20), (1 << 47, u64::MAX << 47)] {
        assert!(mremap(high, PAGE, length, fixed, 0x10_0000).is_err(), "{high:#x} {length:#x}");
        assert_eq!(munmap(high, length), Err(Errno::EINVAL));
        assert!(mmap(high, length, libc::PROT_READ, libc::MAP_FIXED).is_err());
        assert!(madvise(high, length, libc::MADV_DONTNEED).is_err());
    }
}

#[test]
fn pages_that_are_not_needed_become_zero() {
    let pages = Pages::new(3);
    pages.fill(8);
    madvise(pages.page(1), PAGE, libc::MADV_DONTNEED).expect("madvise");
    assert_eq!([0, 1, 2].map(|page| pages.read(page * PAGE)), [8, 0, 8]);
    pages.write(PAGE, 1);
    assert_eq!(pages.read(PAGE), 1);
    pages.unmap(1, 1).expect("munmap");
    assert_eq!(madvise(pages.page(0), 3 * PAGE, libc::MADV_DONTNEED), Err(Errno::ENOMEM), "a hole");
}

#[test]
fn shared_memory_is_shared_by_the_threads() {
    let start = mmap(0, PAGE, READ_WRITE, MAP_SHARED | MAP_ANONYMOUS).expect("mmap");
    let write = move || {
        // SAFETY: the mapping lives until after the join.
        unsafe { (start as *mut u32).write_volatile(77) }
    };
    std::thread::spawn(write).join().expect("the thread ends well");
    // SAFETY: as above.
    assert_eq!(unsafe { (start as *const u32).read_volatile() }, 77);
    munmap(start, PAGE).expect("munmap");
}

#[test]
fn a_private_file_mapping_has_the_files_bytes_and_zeros_behind() {
    use std::os::fd::AsRawFd;
    let path = std::env::args().next().expect("argv[0]");
    let bytes = std::fs::read(&path).expect("the program itself");
    let file = std::fs::File::open(&path).expect("the program itself");
    let length = bytes.len() as u64;
    let arguments = [0, length, READ_WRITE as u64, MAP_PRIVATE as u64, file.as_raw_fd() as u64, 0];
    // SAFETY: a new mapping.
    let start = unsafe { call(number::mmap, &arguments) }.expect("mmap");
    drop(file);
    let end = length.next_multiple_of(PAGE);
    for offset in (0..end).step_by(509).chain(length - 3..end) {
        // SAFETY: within the mapping.
        let byte = unsafe { ((start + offset) as *const u8).read_volatile() };
        assert_eq!(byte, bytes.get(offset as usize).copied().unwrap_or(0), "offset {offset}");
    }
    // SAFETY: a private page: nobody else sees the change.
    unsafe { (start as *mut u8).write_volatile(0) };
    assert_eq!(std::fs::read(&path).expect("the program itself")[0], 0x7f, "the file is as it was");
    munmap(start, length).expect("munmap");
}

#[test]
fn a_thousand_regions_are_kept_apart() {
    let pages = Pages::new(1000);
    (0..1000).step_by(2).for_each(|page| pages.protect(page, 1, PROT_READ).expect("mprotect"));
    assert!((0..1000).all(|page| writable(pages.page(page)) == (page % 2 == 1)));
    (0..1000).step_by(2).for_each(|page| pages.protect(page, 1, READ_WRITE).expect("mprotect"));
    (0..1000).for_each(|page| pages.write(page * PAGE, page as u8));
    assert!((0..1000).all(|page| pages.read(page * PAGE) == page as u8));
}
