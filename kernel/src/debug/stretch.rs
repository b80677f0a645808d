//! How long interrupts stay off, by what began it: the feature `stretches`, for any build of the kernel.
//!
//! A stretch begins where the CPU leaves user mode or an instruction at which interrupts were on, and ends where it gets
//! there again: at the return to user mode, at a window, or when it idles. A switch does not end it: the way of one LWP into
//! the kernel and of the next one out are one stretch, named after the first.

use crate::arch::clock;
use crate::cpu::{self, Here};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use syscalls::OWN_CALLS;

/// What can begin a stretch, as an index: the calls, Linux's and ours, then the vectors, then waking from idleness.
const VECTORS: usize = OUR_CALLS + crate::syscall::OUR_CALLS;
const OUR_CALLS: usize = crate::syscall::LINUX_CALLS;
const IDLENESS: usize = VECTORS + 256;

/// So many lines the report has.
const MOST_LINES: usize = 16;

/// The present stretch of a CPU.
struct Present {
    since: AtomicU64,
    what: AtomicUsize,
}

static PRESENT: [Present; cpu::MAX_CPUS] =
    [const { Present { since: AtomicU64::new(0), what: AtomicUsize::new(IDLENESS) } }; cpu::MAX_CPUS];

/// The longest so far, in ticks.
static LONGEST: [AtomicU64; IDLENESS + 1] = [const { AtomicU64::new(0) }; IDLENESS + 1];

/// Does a call's work.
#[inline(always)]
pub(crate) fn of_call<T>(number: usize, work: impl FnOnce() -> T) -> T {
    begin(if number < OWN_CALLS { number } else { number - OWN_CALLS + OUR_CALLS });
    let result = work();
    end();
    result
}

/// Does the work of an exception or interrupt that came where interrupts were on.
#[inline(always)]
pub(crate) fn of_trap(vector: u8, work: impl FnOnce()) {
    begin(VECTORS + usize::from(vector));
    work();
    end();
}

/// Opens a window in the present stretch.
#[inline(always)]
pub(crate) fn interrupt(window: impl FnOnce()) {
    end();
    let what = if cfg!(feature = "stretches") { present().what.load(Relaxed) } else { 0 };
    window();
    begin(what);
}

/// The CPU begins its idle loop.
pub(crate) fn start() {
    begin(IDLENESS);
}

/// Sleeps with interrupts on.
#[inline(always)]
pub(crate) fn idle(sleep: impl FnOnce()) {
    end();
    sleep();
    begin(IDLENESS);
}

/// The CPU is about to turn interrupts on.
#[inline(always)]
pub(crate) fn end() {
    if cfg!(feature = "stretches") {
        let present = present();
        let ticks = clock() - present.since.load(Relaxed);
        LONGEST[present.what.load(Relaxed)].fetch_max(ticks, Relaxed);
    }
}

#[inline(always)]
fn begin(what: usize) {
    if cfg!(feature = "stretches") {
        present().what.store(what, Relaxed);
        present().since.store(clock(), Relaxed);
    }
}

fn present() -> &'static Present {
    &PRESENT[Here::get().number() as usize]
}

/// Writes the longest stretches to the log.
pub(crate) fn report() {
    if !cfg!(feature = "stretches") {
        return;
    }
    for _ in 0..MOST_LINES {
        let longest = LONGEST.iter().enumerate().max_by_key(|(_, ticks)| ticks.load(Relaxed));
        let Some((what, ticks @ 1..)) = longest.map(|(what, ticks)| (what, ticks.swap(0, Relaxed))) else {
            return;
        };
        let number = if what < OUR_CALLS { what } else { what - OUR_CALLS + OWN_CALLS };
        match what {
            IDLENESS => log::info!("interrupts off for {ticks} ticks at most after idleness"),
            VECTORS.. => log::info!("interrupts off for {ticks} ticks at most by vector {}", what - VECTORS),
            _ => log::info!(
                "interrupts off for {ticks} ticks at most by {}",
                syscalls::row(number).map_or("", |row| row.name)
            ),
        }
    }
}
