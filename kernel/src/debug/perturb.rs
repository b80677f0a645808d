//! Delays, preemptions and moves at places where they hurt, and NMIs anywhere, drawn from a seed: the option
//! `perturb=SEED`.

use crate::arch::{self, clock};
use crate::cpu::{self, Here};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use kcore::sched::balance::CpuSet;

/// A place in the kernel's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// A lock was just let go of; others may be held.
    Released,
    /// The program's memory was just read or written. No lock is held.
    Copied,
    /// The next LWP is chosen; the dispatcher's lock is held.
    Switching,
}

/// Each place is left alone so many times on average for once that it is not.
const RARITY: u64 = 16;

/// So many places are passed on average before another CPU gets an NMI, wherever that is. Its handler does nothing; the
/// way there and back is what is tried (K35).
const NMI_RARITY: u64 = 256;

/// No delay is longer than this many ticks: below what tests of fairness notice.
const LONGEST: u64 = 1 << 15;

static ENABLED: AtomicBool = AtomicBool::new(false);

/// The state of each CPU's generator, which that CPU alone uses.
static STATES: [AtomicU64; cpu::MAX_CPUS] = [const { AtomicU64::new(0) }; cpu::MAX_CPUS];

/// Begins, if there is a seed, and tells the log. Before the other CPUs are up.
pub(crate) fn start(seed: Option<u64>) {
    let Some(seed) = seed else { return };
    if !cfg!(debug_assertions) {
        let way = "TALLY_PROFILE=debug runs that";
        return log::warn!("kernel option 'perturb={seed}' is ignored: it is for the checked kernel; {way}");
    }
    for (number, state) in STATES.iter().enumerate() {
        state.store(mix(seed.wrapping_add(number as u64)), Relaxed);
    }
    ENABLED.store(true, Relaxed);
    log::info!("perturb: seed {seed}");
}

/// A place where something may happen. Interrupts are off.
#[inline(always)]
pub(crate) fn point(point: Point) {
    if cfg!(debug_assertions) && ENABLED.load(Relaxed) {
        perturb(Here::get(), point);
    }
}

/// Where an LWP that wakes goes instead of to `best`: now and then to any CPU of `allowed`, which has one.
#[inline(always)]
pub(crate) fn place(best: u32, allowed: CpuSet) -> u32 {
    match cfg!(debug_assertions) && ENABLED.load(Relaxed) {
        true => any_of(allowed, next(Here::get())).unwrap_or(best),
        false => best,
    }
}

#[cold]
fn perturb(here: Here, point: Point) {
    let random = next(here);
    if random.is_multiple_of(RARITY) {
        let shorter = (random >> 16) % u64::from(LONGEST.ilog2());
        linger(((random >> 32) % LONGEST) >> shorter);
    }
    if (random >> 24).is_multiple_of(NMI_RARITY) {
        send_nmi(here, random >> 40);
    }
    if point == Point::Copied && (random >> 8).is_multiple_of(RARITY) {
        here.slice_over.store(true, Relaxed);
        here.ask_for_attention();
    }
}

/// As an interrupt of the host's would: nothing of this CPU's goes on.
fn linger(ticks: u64) {
    let end = clock() + ticks;
    while clock() < end {
        core::hint::spin_loop();
    }
}

/// Interrupts a CPU that is not this one, if there are others.
fn send_nmi(here: Here, random: u64) {
    let others = u64::from(cpu::count()) - 1;
    if let Some(distance) = random.checked_rem(others) {
        let number = (u64::from(here.number()) + 1 + distance) % (others + 1);
        if let Some(other) = cpu::get(number as u32) {
            arch::interrupt_at_once(other.apic_id());
        }
    }
}

/// A CPU of the set where it is that time.
fn any_of(set: CpuSet, random: u64) -> Option<u32> {
    if !random.is_multiple_of(RARITY) {
        return None;
    }
    set.iter().nth((random >> 32) as usize % set.len().max(1) as usize)
}

/// The CPU's next number: splitmix64.
fn next(here: Here) -> u64 {
    let state = &STATES[here.number() as usize];
    let counted = state.load(Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    state.store(counted, Relaxed);
    mix(counted)
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
