//! The clocks: `clock_gettime(2)` and `clock_getres(2)`, the CPU-time clocks of other LWPs and processes included.

use core::time::Duration;

use syscalls::{Errno, TimeSpec};

use crate::lwp::{LwpId, seconds};
use crate::{fetch, raw};

/// A clock, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clock(i32);

impl Clock {
    /// The time of day, since 1970 (UTC).
    pub const REALTIME: Clock = Clock(0);
    /// The time since boot; it never goes back.
    pub const MONOTONIC: Clock = Clock(1);
    /// CPU time, user and system, of the calling process.
    pub const PROCESS_CPU: Clock = Clock(2);
    /// CPU time, user and system, of the calling LWP.
    pub const THREAD_CPU: Clock = Clock(3);

    /// The clock with this number.
    #[must_use]
    pub const fn from_raw(clock: i32) -> Self {
        Clock(clock)
    }

    /// The number.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }

    /// The CPU-time clock of an LWP of the caller's process, as `pthread_getcpuclockid` makes it.
    #[must_use]
    pub const fn of_lwp(lwp: LwpId) -> Self {
        Clock(!lwp.raw() << 3 | 0b110)
    }

    /// The CPU-time clock of a process, as `clock_getcpuclockid` makes it.
    #[must_use]
    pub const fn of_process(pid: i32) -> Self {
        Clock(!pid << 3 | 0b010)
    }
}

/// What the clock shows.
///
/// # Errors
/// EINVAL: there is no such clock.
pub fn now(clock: Clock) -> Result<Duration, Errno> {
    // SAFETY: `fetch` hands out a place of its own, of the right size.
    let time: TimeSpec = fetch(|at| unsafe { raw::clock_gettime(clock.0, at) })?;
    Ok(seconds(time))
}

/// The clock's smallest step.
///
/// # Errors
/// EINVAL: there is no such clock.
pub fn resolution(clock: Clock) -> Result<Duration, Errno> {
    // SAFETY: as above.
    let time: TimeSpec = fetch(|at| unsafe { raw::clock_getres(clock.0, at) })?;
    Ok(seconds(time))
}
