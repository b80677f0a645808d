//! What a program gives back the kernel has again: free memory before and after, by `sysinfo`. One test at a time, since
//! all look at the same figure; and in tally only, where nobody else uses memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use guest::{PAGE, Pages, address, call};
use syscalls::number;

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All memory and free memory, in bytes.
fn memory() -> (u64, u64) {
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's own.
    unsafe { call(number::sysinfo, &[address(&raw mut info)]) }.expect("sysinfo");
    let unit = u64::from(info.mem_unit);
    (info.totalram * unit, info.freeram * unit)
}

fn free() -> u64 {
    memory().1
}

/// Does something over and over and asserts that after the first few rounds free memory stays as it is.
fn leaks_nothing(what: &str, mut round: impl FnMut()) {
    (0..4).for_each(|_| round());
    let before = free();
    (0..32).for_each(|_| round());
    let lost = before.saturating_sub(free());
    // The test library's own heap may grow by a page or two meanwhile.
    assert!(lost <= 4 * PAGE, "{what}: 32 rounds lost {lost} bytes");
}

#[test]
fn touching_memory_uses_it_and_unmapping_gives_it_back() {
    let _alone = alone();
    let before = free();
    let pages = Pages::new(4096);
    (0..4096).for_each(|page| pages.write(page * PAGE, 1));
    let used = before - free();
    assert!((4096 * PAGE..4200 * PAGE).contains(&used), "16 MiB of pages took {used} bytes");
    drop(pages);
    let lost = before.saturating_sub(free());
    assert!(lost <= 4 * PAGE, "lost {lost} bytes");
}

#[test]
fn mapping_without_touching_uses_next_to_nothing() {
    let _alone = alone();
    let (total, before) = memory();
    let pages = Pages::new(total / 2 / PAGE);
    let used = before.saturating_sub(free());
    assert!(used <= 16 * PAGE, "half of all memory, which nobody touched, took {used} bytes");
    drop(pages);
}

#[test]
fn mappings_leak_nothing() {
    let _alone = alone();
    leaks_nothing("map, touch, unmap", || {
        let pages = Pages::new(64);
        (0..64).for_each(|page| pages.write(page * PAGE, 1));
    });
    leaks_nothing("unmap in pieces", || {
        let pages = Pages::new(32);
        (0..32).for_each(|page| pages.write(page * PAGE, 1));
        (0..32).rev().step_by(2).for_each(|page| pages.unmap(page, 1).expect("munmap"));
    });
    leaks_nothing("not needed", || {
        let pages = Pages::new(16);
        pages.fill(1);
        // SAFETY: pages of this test's own.
        let result =
            unsafe { call(number::madvise, &[pages.page(0), 16 * PAGE, libc::MADV_DONTNEED as u64]) };
        result.expect("madvise");
    });
    leaks_nothing("move", || {
        let (from, to) = (Pages::new(4), Pages::new(4));
        from.fill(1);
        to.fill(1);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: pages of this test's own.
        let moved =
            unsafe { call(number::mremap, &[from.page(0), 4 * PAGE, 4 * PAGE, flags as u64, to.page(0)]) };
        moved.expect("mremap");
    });
}

#[test]
fn threads_leak_nothing() {
    let _alone = alone();
    leaks_nothing("threads", || {
        let threads: Vec<_> = (0..8).map(|_| thread::spawn(thread::yield_now)).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("the thread ends well"));
        // The last of a thread goes a little after its end was told.
        thread::sleep(std::time::Duration::from_millis(5));
    });
}

#[test]
fn descriptors_leak_nothing() {
    let _alone = alone();
    let path = std::env::args().next().expect("argv[0]");
    leaks_nothing("open and close", || {
        (0..16).for_each(|_| drop(std::fs::File::open(&path).expect("the program itself")));
    });
}

#[test]
fn calls_that_fail_leak_nothing() {
    let _alone = alone();
    leaks_nothing("failing calls", || {
        for number in [number::mmap, number::open, number::mremap, number::read, number::lwp_info] {
            // SAFETY: addresses that nothing is at.
            let result = unsafe { call(number, &[16, 1 << 47, 0, 0x22, 0, 0]) };
            assert!(result.is_err(), "{number}: {result:?}");
        }
    });
}
