//! A process's time: the sum over its LWPs, the ended ones included.

use core::time::Duration;

use syscalls::{Errno, RUsage, TimeVal, Tms};

use crate::lwp::CpuTime;
use crate::{fetch, raw};

/// Whose usage is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The calling process.
    Process = 0,
    /// The children it has waited for.
    Children = -1,
    /// The calling LWP alone.
    Lwp = 1,
}

/// What was used (`getrusage(2)`); times to the microsecond, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// CPU time.
    pub time: CpuTime,
    /// Page faults.
    pub faults: u64,
    /// Switches because the LWP gave way.
    pub voluntary_switches: u64,
    /// Switches because it was made to.
    pub involuntary_switches: u64,
}

/// Process times in ticks of 1/100 s (`times(2)`), each rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The process's own.
    pub own: CpuTime,
    /// Of the children it has waited for.
    pub children: CpuTime,
    /// Since boot.
    pub elapsed: Duration,
}

/// What a process, its children or an LWP used.
///
/// # Errors
/// None.
pub fn usage(whose: Whose) -> Result<Usage, Errno> {
    // SAFETY: `fetch` hands out a place of its own, of the right size.
    let usage: RUsage = fetch(|at| unsafe { raw::getrusage(whose as i32, at) })?;
    Ok(Usage {
        time: CpuTime { user: microseconds(usage.user), system: microseconds(usage.system) },
        faults: usage.minor_faults as u64,
        voluntary_switches: usage.voluntary_switches as u64,
        involuntary_switches: usage.involuntary_switches as u64,
    })
}

/// The process's times and its waited-for children's.
///
/// # Errors
/// None.
pub fn times() -> Result<Times, Errno> {
    let mut elapsed = 0;
    let tms: Tms = fetch(|at| {
        // SAFETY: as above.
        elapsed = unsafe { raw::times(at) };
        elapsed
    })?;
    Ok(Times {
        own: CpuTime { user: ticks(tms.user), system: ticks(tms.system) },
        children: CpuTime { user: ticks(tms.children_user), system: ticks(tms.children_system) },
        elapsed: ticks(elapsed as i64),
    })
}

fn microseconds(time: TimeVal) -> Duration {
    Duration::new(time.seconds as u64, time.microseconds as u32 * 1000)
}

fn ticks(ticks: i64) -> Duration {
    Duration::from_millis(ticks as u64 * 10)
}
