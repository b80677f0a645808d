//! CPU time: what the ledgers say, in nanoseconds, to those who ask.

use super::time::{time_spec, time_val};
use super::{Address, Int, Result};
use crate::acct::{self, Counts};
use crate::cpu::Here;
use crate::mm::user::copy_out;
use crate::proc::family::{self, Description};
use crate::proc::{Lwps, Process, current, machine};
use crate::time::rate;
use kcore::acct::Usage;
use kcore::clock::split_seconds;
use syscalls::{
    CpuTimes, Errno, LwpInfo, LwpInfo32, LwpMicrostates, MachineTimes, ProcInfo, ProcTimes, RUsage,
    ThreadCputime, TimeSpec32, Tms, name, proc_state,
};

#[inline(always)]
pub(super) fn lwp_info(info: Address) -> Result {
    let used = acct::own_usage(Here::get());
    copy_out(
        info,
        &LwpInfo { user: time_spec(nanoseconds(used.user)), system: time_spec(nanoseconds(used.system)) },
    )?;
    Ok(0)
}

pub(super) fn lwp_info32(info: Address) -> Result {
    let used = acct::own_usage(Here::get());
    copy_out(info, &LwpInfo32 { user: time_spec_32(used.user)?, system: time_spec_32(used.system)? })?;
    Ok(0)
}

#[inline(always)]
pub(super) fn thread_cputime(tid: Int, time: Address) -> Result {
    let used = match asked_for(tid)? {
        None => acct::own_usage(Here::get()),
        Some(tid) => acct::usage(tid).ok_or(Errno::ESRCH)?,
    };
    copy_out(time, &ThreadCputime { user: nanoseconds(used.user), system: nanoseconds(used.system) })?;
    Ok(0)
}

pub(super) fn lwp_microstates(tid: Int, states: Address) -> Result {
    let tid = asked_for(tid)?.unwrap_or_else(|| Here::get().lwp().tid());
    let ticks = acct::microstates(tid).ok_or(Errno::ESRCH)?;
    let answer = LwpMicrostates {
        user: nanoseconds(ticks.user),
        system: nanoseconds(ticks.system),
        runnable: nanoseconds(ticks.runnable),
        sleeping: nanoseconds(ticks.sleeping),
        stopped: nanoseconds(ticks.stopped),
        lifetime: nanoseconds(ticks.lifetime),
    };
    copy_out(states, &answer)?;
    Ok(0)
}

pub(super) fn cpu_times(cpu: Int, times: Address) -> Result {
    let ticks = u32::try_from(cpu).ok().and_then(acct::cpu_ticks).ok_or(Errno::EINVAL)?;
    let answer = CpuTimes {
        user: nanoseconds(ticks.user),
        system: nanoseconds(ticks.system),
        irq: nanoseconds(ticks.irq),
        idle: nanoseconds(ticks.idle),
        up: nanoseconds(ticks.up),
    };
    copy_out(times, &answer)?;
    Ok(0)
}

pub(super) fn proc_times(pid: Int, times: Address) -> Result {
    let pid = asked_for(pid)?.unwrap_or_else(|| current().pid());
    let both = |process: &Process| (acct::process_usage(process), acct::children_usage(process));
    let (own, children) = family::with_process(pid, both).ok_or(Errno::ESRCH)?;
    let answer = ProcTimes {
        user: nanoseconds(own.user),
        system: nanoseconds(own.system),
        children_user: nanoseconds(children.user),
        children_system: nanoseconds(children.system),
    };
    copy_out(times, &answer)?;
    Ok(0)
}

pub(super) fn machine_times(times: Address) -> Result {
    if current().uid() != 0 {
        return Err(Errno::EPERM);
    }
    let machine::MachineTimes { lwps, cpus } = machine::times();
    let answer = MachineTimes {
        lwp_user: nanoseconds(lwps.user),
        lwp_system: nanoseconds(lwps.system),
        cpu_user: nanoseconds(cpus.user),
        cpu_system: nanoseconds(cpus.system),
        cpu_irq: nanoseconds(cpus.irq),
        cpu_idle: nanoseconds(cpus.idle),
    };
    copy_out(times, &answer)?;
    Ok(0)
}

pub(super) fn proc_next(after: Int, info: Address) -> Result {
    let after = u32::try_from(after).map_err(|_| Errno::EINVAL)?;
    let answer = family::with_next(after, describe).ok_or(Errno::ESRCH)?;
    copy_out(info, &answer)?;
    Ok(answer.pid as u64)
}

fn describe(description: &Description) -> ProcInfo {
    let process = description.process;
    let (own, children) = (acct::process_usage(process), acct::children_usage(process));
    let lwps = process.lwps();
    ProcInfo {
        pid: description.pid as i32,
        parent: description.parent as i32,
        group: description.group as i32,
        session: description.session as i32,
        uid: process.uid(),
        state: match lwps {
            _ if description.has_ended => proc_state::ENDED,
            _ if process.has_stopped() => proc_state::STOPPED,
            Lwps { ready: 0, .. } => proc_state::SLEEPING,
            _ => proc_state::RUNNING,
        },
        lwps: lwps.count,
        cpu: lwps.cpu,
        user: nanoseconds(own.user),
        system: nanoseconds(own.system),
        children_user: nanoseconds(children.user),
        children_system: nanoseconds(children.system),
        name: name::fixed(process.program().name.as_bytes()),
    }
}

pub(super) fn getrusage(who: Int, usage: Address) -> Result {
    const RUSAGE_SELF: Int = 0;
    const RUSAGE_CHILDREN: Int = -1;
    const RUSAGE_THREAD: Int = 1;
    let here = Here::get();
    let (used, counts) = match who {
        RUSAGE_SELF => (acct::process_usage(current()), current().counts()),
        RUSAGE_CHILDREN => (acct::children_usage(current()), current().children_counts()),
        RUSAGE_THREAD => (acct::own_usage(here), acct::lwp_counts(here.lwp())),
        _ => return Err(Errno::EINVAL),
    };
    copy_out(usage, &resource_usage(used, counts))?;
    Ok(0)
}

pub(super) fn resource_usage(used: Usage, counts: Counts) -> RUsage {
    RUsage {
        user: time_val(nanoseconds(used.user)),
        system: time_val(nanoseconds(used.system)),
        minor_faults: counts.faults as i64,
        voluntary_switches: counts.voluntary as i64,
        involuntary_switches: counts.involuntary as i64,
        ..RUsage::default()
    }
}

pub(super) fn times(buffer: Address) -> Result {
    let (own, children) = (acct::process_usage(current()), acct::children_usage(current()));
    if buffer != 0 {
        let Usage { user, system } = own;
        let answer = Tms {
            user: clock_ticks(user),
            system: clock_ticks(system),
            children_user: clock_ticks(children.user),
            children_system: clock_ticks(children.system),
        };
        copy_out(buffer, &answer)?;
    }
    Ok(crate::time::monotonic_ns() / NS_PER_CLOCK_TICK)
}

/// `times` counts in 1/100 s.
const NS_PER_CLOCK_TICK: u64 = 10_000_000;

/// Whose figures are asked for: None is the caller's own. EINVAL.
#[inline(always)]
fn asked_for(tid: Int) -> Result<Option<u32>> {
    match tid {
        -1 => Ok(None),
        ..=0 => Err(Errno::EINVAL),
        _ => Ok(Some(tid as u32)),
    }
}

#[inline(always)]
fn nanoseconds(ticks: u64) -> u64 {
    rate().nanoseconds(ticks)
}

fn time_spec_32(ticks: u64) -> Result<TimeSpec32> {
    let (seconds, rest) = split_seconds(nanoseconds(ticks));
    let seconds = i32::try_from(seconds).map_err(|_| Errno::EOVERFLOW)?;
    Ok(TimeSpec32 { seconds, nanoseconds: rest as i32 })
}

pub(super) fn clock_ticks(ticks: u64) -> i64 {
    (nanoseconds(ticks) / NS_PER_CLOCK_TICK) as i64
}
