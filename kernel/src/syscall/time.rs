//! Clocks and sleeping.

use super::pointer::{copy_in_time, optional};
use super::{Address, Int, Result};
use crate::arch::clock;
use crate::cpu::Here;
use crate::mm::user::copy_out;
use crate::proc::{current, family, table};
use crate::{acct, sched, time};
use kcore::acct::Usage;
use kcore::clock::split_seconds;
use kcore::clock_id::{ClockId, CpuPart, Whose};
use syscalls::{Errno, TimeSpec, TimeVal};

#[inline(always)]
pub(super) fn clock_gettime(id: Int, to: Address) -> Result {
    let now = read_clock(ClockId::decode(id)?)?;
    copy_out(to, &time_spec(now))?;
    Ok(0)
}

pub(super) fn clock_getres(id: Int, to: Address) -> Result {
    check_clock(ClockId::decode(id)?)?;
    optional(to, |to| copy_out(to, &TimeSpec { seconds: 0, nanoseconds: 1 }))?;
    Ok(0)
}

pub(super) fn gettimeofday(to: Address, zone: Address) -> Result {
    optional(to, |to| copy_out(to, &time_val(time::wall_ns())))?;
    optional(zone, |zone| copy_out(zone, &0u64))?; // minutes west and correction: UTC
    Ok(0)
}

/// No signal interrupts a sleep, so nothing ever remains.
pub(super) fn nanosleep(request: Address, _remaining: Address) -> Result {
    sleep_from_now(copy_in_time(request)?)
}

pub(super) fn clock_nanosleep(id: Int, flags: Int, request: Address, _remaining: Address) -> Result {
    const TIMER_ABSTIME: Int = 1;
    let id = ClockId::decode(id)?;
    let length = copy_in_time(request)?;
    match (id, flags & TIMER_ABSTIME != 0) {
        (ClockId::Wall, true) => sleep_until(time::ticks_at_wall(length)),
        (ClockId::Monotonic, true) => sleep_until(time::ticks_at(length)),
        (ClockId::Wall | ClockId::Monotonic, false) => sleep_from_now(length),
        (ClockId::Cpu { .. }, _) => Err(Errno::EINVAL),
    }
}

/// Sleeps for `length` nanoseconds.
fn sleep_from_now(length: u64) -> Result {
    sleep_until(clock().saturating_add(time::ticks_at(length)))
}

fn sleep_until(deadline: u64) -> Result {
    while clock() < deadline && !Here::get().lwp().is_killed() {
        sched::sleep_until(deadline);
    }
    Ok(0)
}

#[inline(always)]
pub(super) fn time_spec(nanoseconds: u64) -> TimeSpec {
    let (seconds, rest) = split_seconds(nanoseconds);
    TimeSpec { seconds: seconds as i64, nanoseconds: rest as i64 }
}

/// The part of a microsecond is dropped.
pub(super) fn time_val(nanoseconds: u64) -> TimeVal {
    let (seconds, rest) = split_seconds(nanoseconds);
    TimeVal { seconds: seconds as i64, microseconds: (rest / 1000) as i64 }
}

#[inline(always)]
fn read_clock(id: ClockId) -> Result {
    Ok(match id {
        ClockId::Wall => time::wall_ns(),
        ClockId::Monotonic => time::monotonic_ns(),
        ClockId::Cpu { whose, part } => read_cpu_clock(whose, part)?,
    })
}

/// Kept apart: the other clocks are read with fewer registers.
#[inline(never)]
fn read_cpu_clock(whose: Whose, part: CpuPart) -> Result {
    Ok(time::rate().nanoseconds(part_of(part, usage_of(whose)?)))
}

fn check_clock(id: ClockId) -> Result<()> {
    read_clock(id).map(|_| ())
}

fn part_of(part: CpuPart, used: Usage) -> u64 {
    match part {
        CpuPart::User => used.user,
        CpuPart::Whole => used.total(),
    }
}

/// EINVAL where there is no such LWP or process, or the LWP is of another process: Linux's rule. A process that waits to
/// be reaped still has its clock.
fn usage_of(whose: Whose) -> Result<Usage> {
    let own = current();
    match whose {
        Whose::Caller => Ok(acct::own_usage(Here::get())),
        Whose::CallersProcess => Ok(acct::process_usage(own)),
        Whose::Lwp(tid) => {
            let ours = table::find(tid).is_some_and(|lwp| own.has(lwp, tid));
            let states = if ours { acct::microstates(tid) } else { None };
            states.map(|states| states.usage()).ok_or(Errno::EINVAL)
        }
        Whose::Process(pid) => family::with_process(pid, acct::process_usage).ok_or(Errno::EINVAL),
    }
}
