//! Processes: what they used (the sum over their LWPs, the ended ones included), and which there are.

use core::time::Duration;

pub use syscalls::ProcInfo;
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

/// The time of a process and of its children that were waited for, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessTimes {
    /// The process's own.
    pub own: CpuTime,
    /// Of the children it has waited for, and of theirs.
    pub children: CpuTime,
}

/// The times of any process, also of one that waits to be waited for (the project's own call); None: the caller's.
///
/// # Errors
/// EINVAL: 0, or below −1. ESRCH: no such process.
pub fn proc_times(pid: Option<i32>) -> Result<ProcessTimes, Errno> {
    // SAFETY: as above.
    let times: syscalls::ProcTimes = fetch(|at| unsafe { raw::proc_times(pid.unwrap_or(-1), at) })?;
    Ok(ProcessTimes {
        own: CpuTime { user: Duration::from_nanos(times.user), system: Duration::from_nanos(times.system) },
        children: CpuTime {
            user: Duration::from_nanos(times.children_user),
            system: Duration::from_nanos(times.children_system),
        },
    })
}

/// What all LWPs that ever lived used, and what became of all CPUs' time, of one moment at which all CPUs stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineTimes {
    /// Of the LWPs.
    pub lwps: CpuTime,
    /// Of the CPUs: the same, for every LWP's time is some CPU's.
    pub cpus: CpuTime,
    /// Time that the CPUs spent on interrupts.
    pub irq: Duration,
    /// Time in which the CPUs had nothing to run.
    pub idle: Duration,
}

/// The machine's times (the project's own call).
///
/// # Errors
/// EPERM: the caller is not user 0.
pub fn machine_times() -> Result<MachineTimes, Errno> {
    // SAFETY: as above.
    let times: syscalls::MachineTimes = fetch(|at| unsafe { raw::machine_times(at) })?;
    let time =
        |user, system| CpuTime { user: Duration::from_nanos(user), system: Duration::from_nanos(system) };
    Ok(MachineTimes {
        lwps: time(times.lwp_user, times.lwp_system),
        cpus: time(times.cpu_user, times.cpu_system),
        irq: Duration::from_nanos(times.cpu_irq),
        idle: Duration::from_nanos(times.cpu_idle),
    })
}

/// The process with the lowest pid above `after` (the project's own call).
///
/// # Errors
/// EINVAL: below 0. ESRCH: there is none.
pub fn next(after: i32) -> Result<ProcInfo, Errno> {
    // SAFETY: as above.
    fetch(|at| unsafe { raw::proc_next(after, at) })
}

/// All processes in the order of their pids, each as it is when its turn comes.
pub fn all() -> impl Iterator<Item = ProcInfo> {
    let mut after = 0;
    core::iter::from_fn(move || {
        let info = next(after).ok()?;
        after = info.pid;
        Some(info)
    })
}

fn microseconds(time: TimeVal) -> Duration {
    Duration::new(time.seconds as u64, time.microseconds as u32 * 1000)
}

fn ticks(ticks: i64) -> Duration {
    Duration::from_millis(ticks as u64 * 10)
}
