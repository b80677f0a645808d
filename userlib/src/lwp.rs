//! An LWP's time: what it used, and what became of the rest of its life.
//!
//! Everything is counted by stamped transitions, never by sampling; one reading is of one moment. No figure ever
//! decreases, whoever asks.

use core::fmt;
use core::ops::Sub;
use core::time::Duration;

use syscalls::{Errno, LwpMicrostates, ThreadCputime, TimeSpec, TimeSpec32};

use crate::{fetch, raw};

/// The id of an LWP, of any process. What C calls `tid_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LwpId(i32);

impl LwpId {
    /// Whoever makes the call.
    pub const CALLER: LwpId = LwpId(-1);

    /// The LWP with this number. Whether there is one is found out by asking about it.
    #[must_use]
    pub const fn from_raw(tid: i32) -> Self {
        LwpId(tid)
    }

    /// The number.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }
}

impl fmt::Display for LwpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// CPU time, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// In user mode.
    pub user: Duration,
    /// In the kernel on the owner's behalf: system calls, page faults, traps.
    pub system: Duration,
}

impl CpuTime {
    /// User and system time together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.user + self.system
    }
}

impl Sub for CpuTime {
    type Output = CpuTime;

    /// What was used between two readings. `earlier` must be the earlier one.
    fn sub(self, earlier: CpuTime) -> CpuTime {
        CpuTime { user: self.user - earlier.user, system: self.system - earlier.system }
    }
}

/// Where an LWP's life went, of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Microstates {
    /// In user mode.
    pub user: Duration,
    /// In the kernel on its own behalf.
    pub system: Duration,
    /// Waiting for a CPU.
    pub runnable: Duration,
    /// Blocked.
    pub sleeping: Duration,
    /// Stopped by a signal.
    pub stopped: Duration,
    /// Since it was made: the sum of the others, but for less than a nanosecond lost in each.
    pub lifetime: Duration,
}

impl Microstates {
    /// The five states together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.user + self.system + self.runnable + self.sleeping + self.stopped
    }
}

/// The calling LWP's id: what `gettid` and AIX's `thread_self` give.
#[must_use]
pub fn current() -> LwpId {
    LwpId(raw::gettid() as i32)
}

/// User and system time of the calling LWP, this call included up to the reading (`_lwp_info(2)`).
///
/// # Errors
/// None from tally; ENOSYS from a kernel without the call.
pub fn info() -> Result<CpuTime, Errno> {
    // SAFETY: `fetch` hands out a place of its own, of the right size.
    let info: syscalls::LwpInfo = fetch(|at| unsafe { raw::lwp_info(at) })?;
    Ok(CpuTime { user: seconds(info.user), system: seconds(info.system) })
}

/// The same in 32-bit seconds, as a 32-bit program would get it (`_lwp_info(2)`).
///
/// # Errors
/// EOVERFLOW: 2³¹ seconds or more.
pub fn info32() -> Result<CpuTime, Errno> {
    // SAFETY: as above.
    let info: syscalls::LwpInfo32 = fetch(|at| unsafe { raw::lwp_info32(at) })?;
    Ok(CpuTime { user: seconds32(info.user), system: seconds32(info.system) })
}

/// User and system time of any LWP of any process, the present slice included (AIX `thread_cputime`).
///
/// # Errors
/// EINVAL: 0, or below −1. ESRCH: no such LWP, or it has ended.
pub fn cputime(lwp: LwpId) -> Result<CpuTime, Errno> {
    // SAFETY: as above.
    let time: ThreadCputime = fetch(|at| unsafe { raw::thread_cputime(lwp.0, at) })?;
    Ok(CpuTime { user: Duration::from_nanos(time.user), system: Duration::from_nanos(time.system) })
}

/// All microstates of any LWP of any process (the project's own call, after illumos's microstates).
///
/// # Errors
/// EINVAL: 0, or below −1. ESRCH: no such LWP, or it has ended.
pub fn microstates(lwp: LwpId) -> Result<Microstates, Errno> {
    // SAFETY: as above.
    let states: LwpMicrostates = fetch(|at| unsafe { raw::lwp_microstates(lwp.0, at) })?;
    Ok(Microstates {
        user: Duration::from_nanos(states.user),
        system: Duration::from_nanos(states.system),
        runnable: Duration::from_nanos(states.runnable),
        sleeping: Duration::from_nanos(states.sleeping),
        stopped: Duration::from_nanos(states.stopped),
        lifetime: Duration::from_nanos(states.lifetime),
    })
}

/// A time that the kernel wrote: not negative, and with proper nanoseconds.
pub(crate) fn seconds(time: TimeSpec) -> Duration {
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

fn seconds32(time: TimeSpec32) -> Duration {
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}
