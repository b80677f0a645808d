//! Mappings that cannot be made, moved or cut for want of anything: an error, and all is as before, to the byte of the
//! kernel's heap. (On the checked kernel; others cannot be made to fail.)

use guest::{Attempt, PAGE, address, alone, call, can_fail};
use syscalls::number;
use userlib::Errno::{self, EAGAIN, EFAULT, ENOMEM};

/// Where nothing else is ever mapped.
const PLACE: u64 = 0x3000_0000_0000;
const LENGTH: u64 = 4 * PAGE;

/// Makes a call with right arguments, about the pages from [`PLACE`] on or others that it maps itself.
fn make(number: usize, arguments: &[u64]) -> Result<u64, Errno> {
    // SAFETY: nobody else uses that memory.
    unsafe { call(number, arguments) }
}

fn map(flags: i32) -> Result<u64, Errno> {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let flags = (flags | libc::MAP_ANONYMOUS) as u64;
    make(number::mmap, &[PLACE, LENGTH, protection, flags, u64::MAX, 0])
}

fn unmap(start: u64) {
    assert_eq!(make(number::munmap, &[start, LENGTH]), Ok(0));
}

/// Whether all pages from `start` on are mapped; they can be read and written afterwards.
fn is_whole(start: u64) -> bool {
    make(number::mprotect, &[start, LENGTH, (libc::PROT_READ | libc::PROT_WRITE) as u64]).is_ok()
}

#[test]
fn a_mapping_that_fails_leaves_nothing() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    for flags in [libc::MAP_PRIVATE, libc::MAP_SHARED, libc::MAP_SHARED | libc::MAP_FIXED] {
        let make = || map(flags).inspect_err(|_| assert!(!is_whole(PLACE), "it is mapped after all"));
        let without_memory = &[ENOMEM];
        Attempt { name: "mmap", make: &make, undo: &unmap, without_memory, without_copy: &[] }
            .leaves_nothing();
    }
}

fn remap(from: u64, to: u64) -> Result<u64, Errno> {
    let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64;
    make(number::mremap, &[from, LENGTH, LENGTH, flags, to])
}

#[test]
fn a_mapping_that_cannot_move_stays_where_it_is() {
    const MARK: u64 = 0x1234_5678_9abc;
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let start = map(libc::MAP_PRIVATE).expect("mmap");
    let first_word = |at: u64| at as *mut u64;
    // SAFETY: the page was just mapped.
    unsafe { first_word(start).write_volatile(MARK) };
    let make = || {
        let moved = remap(start, start + (1 << 32)); // where tables are missing
        // SAFETY: it is here, or there.
        let word = unsafe { first_word(moved.unwrap_or(start)).read_volatile() };
        assert_eq!(word, MARK, "what was in it is lost");
        moved
    };
    let move_back = |at: u64| assert_eq!(remap(at, start), Ok(start));
    let without_memory = &[ENOMEM];
    Attempt { name: "mremap", make: &make, undo: &move_back, without_memory, without_copy: &[] }
        .leaves_nothing();
    unmap(start);
}

#[test]
fn a_mapping_that_cannot_be_cut_stays_whole() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let unmap_part = || make(number::munmap, &[PLACE + PAGE, PAGE]);
    let protect_part = || make(number::mprotect, &[PLACE + PAGE, PAGE, libc::PROT_READ as u64]);
    type Cut<'a> = &'a dyn Fn() -> Result<u64, Errno>;
    for (name, cut) in [("munmap", &unmap_part as Cut), ("mprotect", &protect_part)] {
        let make = || {
            map(libc::MAP_PRIVATE)?;
            cut().inspect_err(|_| {
                assert!(is_whole(PLACE));
                unmap(PLACE);
            })
        };
        let undo = |_| unmap(PLACE);
        let without_memory = &[ENOMEM];
        Attempt { name, make: &make, undo: &undo, without_memory, without_copy: &[] }.leaves_nothing();
    }
}

#[test]
fn a_wait_on_a_shared_word_that_fails_leaves_nothing() {
    let _alone = alone();
    if !can_fail() {
        return;
    }
    let word = map(libc::MAP_SHARED).expect("mmap");
    let moment = libc::timespec { tv_sec: 0, tv_nsec: 1000 };
    let arguments = [word, libc::FUTEX_WAIT as u64, 0, address(&raw const moment)];
    let make = || match make(number::futex, &arguments) {
        Err(Errno::ETIMEDOUT) => Ok(0),
        other => other,
    };
    let (without_memory, without_copy) = (&[ENOMEM, EAGAIN], &[EFAULT]);
    Attempt { name: "futex", make: &make, undo: &|_| (), without_memory, without_copy }.leaves_nothing();
    unmap(word);
}
