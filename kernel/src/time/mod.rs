//! Time as users see it: nanoseconds, from the clock's ticks and the rate measured at boot.

use crate::arch::clock;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use kcore::clock::{NANOSECONDS, Rate};
use spin::Once;

/// How long an LWP runs while others wait, in nanoseconds.
const SLICE_NS: u64 = 10_000_000;

static RATE: Once<Rate> = Once::new();
/// The time of day when the clock stood at zero, in nanoseconds since 1970.
static WALL_AT_ZERO: AtomicU64 = AtomicU64::new(0);
static SLICE_TICKS: AtomicU64 = AtomicU64::new(0);

/// Records the clock's rate, once and for good, and the time of day, in seconds since 1970.
pub(crate) fn start(clock_hz: u64, wall_seconds: u64) {
    let rate = *RATE.call_once(|| Rate::new(clock_hz).expect("a clock that was measured runs"));
    WALL_AT_ZERO.store(wall_seconds * NANOSECONDS - rate.nanoseconds(clock()), Relaxed);
    SLICE_TICKS.store(rate.ticks_ceil(SLICE_NS), Relaxed);
    log::info!("clock: {clock_hz} Hz; {wall_seconds} s since 1970");
}

/// Whether boot has measured the clock.
pub(crate) fn is_started() -> bool {
    RATE.is_completed()
}

/// The clock's rate.
#[inline]
pub(crate) fn rate() -> Rate {
    // SAFETY: boot calls `start` before there is anybody to ask.
    unsafe { *RATE.get_unchecked() }
}

/// Nanoseconds since the machine's reset.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    rate().nanoseconds(clock())
}

/// Nanoseconds since 1970-01-01 00:00 UTC.
#[inline]
pub(crate) fn wall_ns() -> u64 {
    WALL_AT_ZERO.load(Relaxed) + monotonic_ns()
}

/// The moment `nanoseconds` after the reset, in ticks; never early.
pub(crate) fn ticks_at(nanoseconds: u64) -> u64 {
    rate().ticks_ceil(nanoseconds)
}

/// The time-of-day moment `nanoseconds` after 1970, in ticks; never early.
pub(crate) fn ticks_at_wall(nanoseconds: u64) -> u64 {
    ticks_at(nanoseconds.saturating_sub(WALL_AT_ZERO.load(Relaxed)))
}

/// How long an LWP runs while others wait, in ticks.
#[inline]
pub(crate) fn slice_ticks() -> u64 {
    SLICE_TICKS.load(Relaxed)
}
