//! One LWP gives a CPU to another.

use super::cpu::{CpuLedger, CpuState};
use super::lwp::{LwpLedger, OffCpu};

/// `from` gives up the CPU and is henceforth what is said beside it, `to` gets the CPU and is in the kernel; without
/// `from` the CPU was idle, without `to` it becomes idle. Everything that ends and begins does so at one stamp,
/// which is returned.
///
/// On that CPU, with interrupts off and its run queue locked; `to` is runnable and not `from`.
#[inline]
pub fn switch(
    cpu: &CpuLedger,
    cpu_id: u32,
    from: Option<(&LwpLedger, OffCpu)>,
    to: Option<&LwpLedger>,
    clock: impl FnOnce() -> u64,
) -> u64 {
    debug_assert_eq!(from.is_none(), cpu.state() == CpuState::Idle, "only an idle CPU has no LWP");
    let lwps = [from.map(|(lwp, _)| lwp), to];
    lwps.into_iter().flatten().for_each(|lwp| lwp.sequence.open_ahead());
    cpu.sequence.open();
    let now = clock();
    cpu.close_account_of(if from.is_some() { CpuState::System } else { CpuState::Idle }, now);
    if let Some((lwp, next)) = from {
        lwp.undock(cpu, next, now);
    }
    if let Some(lwp) = to {
        lwp.dock(cpu, cpu_id, now);
    }
    cpu.open_account(if to.is_some() { CpuState::System } else { CpuState::Idle }, now);
    cpu.sequence.close();
    lwps.into_iter().flatten().for_each(|lwp| lwp.sequence.close());
    now
}
