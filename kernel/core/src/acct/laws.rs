//! The laws, as checks of what was read. Exact, in ticks: no tolerance is needed or given.

use super::cpu::CpuTicks;
use super::lwp::Microstates;
use super::totals::Usage;

/// A law that does not hold, with the figures that break it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Law 1: a CPU's states do not sum to the time since it came up.
    One(CpuTicks),
    /// Law 2: an LWP's states do not sum to its lifetime.
    Two(Microstates),
    /// Law 3: the LWPs' time is not the CPUs'.
    Three {
        /// Of all LWPs that ever lived.
        lwps: Usage,
        /// Of all CPUs.
        cpus: Usage,
    },
    /// Law 4: a figure fell.
    Four {
        /// Read before.
        before: u64,
        /// Read after.
        after: u64,
    },
}

impl core::fmt::Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Broken::One(cpu) => write!(f, "law 1: a CPU's states do not sum to its time: {cpu:?}"),
            Broken::Two(lwp) => write!(f, "law 2: an LWP's states do not sum to its lifetime: {lwp:?}"),
            Broken::Three { lwps, cpus } => write!(f, "law 3: all LWPs have {lwps:?}, all CPUs {cpus:?}"),
            Broken::Four { before, after } => write!(f, "law 4: a figure fell from {before} to {after}"),
        }
    }
}

impl core::error::Error for Broken {}

/// Law 1: `user + system + irq + idle` is the time since the CPU came up.
pub fn one(cpu: &CpuTicks) -> Result<(), Broken> {
    let states = [cpu.user, cpu.system, cpu.irq, cpu.idle];
    if sums_to(&states, cpu.up) { Ok(()) } else { Err(Broken::One(*cpu)) }
}

/// Law 2: `user + system + runnable + sleeping + stopped` is the LWP's lifetime.
pub fn two(lwp: &Microstates) -> Result<(), Broken> {
    let states = [lwp.user, lwp.system, lwp.runnable, lwp.sleeping, lwp.stopped];
    if sums_to(&states, lwp.lifetime) { Ok(()) } else { Err(Broken::Two(*lwp)) }
}

/// Law 3: the user and the system time of all LWPs that ever lived is that of all CPUs, while nothing runs on.
pub fn three(lwps: Usage, cpus: impl IntoIterator<Item = CpuTicks>) -> Result<(), Broken> {
    let cpus = cpus.into_iter().map(|cpu| Usage { user: cpu.user, system: cpu.system }).sum();
    if lwps == cpus { Ok(()) } else { Err(Broken::Three { lwps, cpus }) }
}

/// Law 4, for one figure read twice.
pub fn four(before: u64, after: u64) -> Result<(), Broken> {
    if before <= after { Ok(()) } else { Err(Broken::Four { before, after }) }
}

/// Whether `parts` sum to `whole` without wrapping: a part that "fell below zero" is not forgiven.
fn sums_to(parts: &[u64], whole: u64) -> bool {
    parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part)) == Some(whole)
}
