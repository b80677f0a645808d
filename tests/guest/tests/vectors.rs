//! The x87, SSE and AVX state belongs to its LWP: it survives calls, sleeps, faults and other LWPs, and nothing of
//! another LWP's is ever seen.

use std::arch::asm;
use std::thread;

use guest::{Meanwhile, Pages, VectorState, address};
use syscalls::number;

/// A tenth of a millisecond.
static SHORT: [u64; 2] = [0, 100_000];

/// Ways into the kernel and back: a call that fails, one that sleeps, one that gives way, ones that copy.
fn ways(place: &Pages) -> [Meanwhile; 5] {
    let way = |number: usize, arguments| Meanwhile {
        number: number as u64,
        arguments,
        page: place.page(0),
        rounds: 1,
    };
    [
        way(0x7fff, [0; 3]),
        way(number::nanosleep, [address(&SHORT), 0, 0]),
        way(number::sched_yield, [0; 3]),
        way(number::lwp_microstates, [u64::MAX, place.page(1), 0]),
        way(number::getrandom, [place.page(1), 1000, 0]),
    ]
}

/// Passes values through each way, many times.
fn pass_all_ways(seed: u8, repeats: usize) {
    let place = Pages::new(2);
    for (repeat, way) in (0..repeats).flat_map(|repeat| ways(&place).map(|way| (repeat, way))) {
        let before = VectorState::new(seed.wrapping_add(4 * repeat as u8));
        let mut after = before;
        // SAFETY: the calls write to this function's pages only.
        unsafe { after.pass_through(&way) };
        assert_eq!(after, before, "call {:#x}, seed {seed}", way.number);
    }
}

#[test]
fn the_state_survives_calls_and_sleeps() {
    pass_all_ways(0, 50);
}

#[test]
fn the_state_survives_page_faults() {
    let pages = Pages::new(200);
    for index in 0..200 {
        let way = Meanwhile {
            number: number::getppid as u64,
            arguments: [0; 3],
            page: pages.page(index),
            rounds: 1,
        };
        let before = VectorState::new(index as u8);
        let mut after = before;
        // SAFETY: the page is this test's own.
        unsafe { after.pass_through(&way) };
        assert_eq!(after, before, "page {index}");
    }
}

#[test]
fn lwps_never_see_each_others_state() {
    // Rounding modes too: the low bits of the seeds differ.
    let workers: Vec<_> = (0..6).map(|seed| thread::spawn(move || pass_all_ways(seed, 60))).collect();
    workers.into_iter().for_each(|worker| worker.join().expect("no difference"));
}

#[test]
fn the_state_survives_being_preempted() {
    let workers: Vec<_> = (0..4).map(|seed| thread::spawn(move || pass_in_long_loops(seed))).collect();
    workers.into_iter().for_each(|worker| worker.join().expect("no difference"));
}

fn pass_in_long_loops(seed: u8) {
    let place = Pages::new(1);
    let way = Meanwhile { number: 0x7fff, arguments: [0; 3], page: place.page(0), rounds: 2_000_000 };
    for _ in 0..10 {
        let before = VectorState::new(seed);
        let mut after = before;
        // SAFETY: no such call; the page is this function's own.
        unsafe { after.pass_through(&way) };
        assert_eq!(after, before, "seed {seed}");
    }
}

#[test]
fn a_thread_starts_with_its_creators_control_words() {
    let controls = || {
        let (mut mxcsr, mut control) = (0_u32, 0_u16);
        // SAFETY: stores to this function's own variables.
        unsafe { asm!("stmxcsr [{0}]", "fnstcw [{1}]", in(reg) &raw mut mxcsr, in(reg) &raw mut control) };
        // The flags of exceptions that happened are not of interest.
        (mxcsr & !0x3f, control)
    };
    assert_eq!(controls(), (0x1f80, 0x037f), "a new program's");
    assert_eq!(thread::spawn(controls).join().expect("the thread ends well"), (0x1f80, 0x037f));
}
