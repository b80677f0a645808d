//! A CPU's time.

use core::fmt;
use core::time::Duration;

pub use syscalls::CpuInfo;
use syscalls::{CpuTimes, Errno};

use crate::{fetch, raw};

/// The number of a CPU, from 0. What C calls `processorid_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)] // an array of these is C's array of processorid_t
pub struct CpuId(i32);

impl CpuId {
    /// The CPU with this number. Whether there is one is found out by asking about it.
    #[must_use]
    pub const fn from_raw(cpu: i32) -> Self {
        CpuId(cpu)
    }

    /// The number.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a CPU's time went, of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Running an LWP in user mode.
    pub user: Duration,
    /// In the kernel on an LWP's behalf.
    pub system: Duration,
    /// Handling interrupts, whomever they interrupted: no LWP pays for them.
    pub irq: Duration,
    /// With nothing to run.
    pub idle: Duration,
    /// Since the CPU came up: the sum of the others, but for less than a nanosecond lost in each.
    pub up: Duration,
}

impl Times {
    /// The four states together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.user + self.system + self.irq + self.idle
    }
}

/// A CPU's times (the project's own call).
///
/// # Errors
/// EINVAL: there is no such CPU.
pub fn times(cpu: CpuId) -> Result<Times, Errno> {
    // SAFETY: `fetch` hands out a place of its own, of the right size.
    let times: CpuTimes = fetch(|at| unsafe { raw::cpu_times(cpu.0, at) })?;
    Ok(Times {
        user: Duration::from_nanos(times.user),
        system: Duration::from_nanos(times.system),
        irq: Duration::from_nanos(times.irq),
        idle: Duration::from_nanos(times.idle),
        up: Duration::from_nanos(times.up),
    })
}

/// What a CPU went through since it came up (the project's own call).
///
/// # Errors
/// EINVAL: there is no such CPU.
pub fn info(cpu: CpuId) -> Result<CpuInfo, Errno> {
    // SAFETY: as above.
    fetch(|at| unsafe { raw::cpu_info(cpu.0, at) })
}

/// Every CPU there is, with its times.
///
/// # Errors
/// Ends at the first CPU number that the kernel does not know; yields nothing on a kernel without the call.
pub fn all() -> impl Iterator<Item = (CpuId, Times)> {
    (0..).map(CpuId).map_while(|cpu| Some((cpu, times(cpu).ok()?)))
}
