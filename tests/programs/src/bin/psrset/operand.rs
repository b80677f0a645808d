//! Operands: sets, CPUs and ranges of them, processes and lists of their LWPs.

use std::ops::RangeInclusive;
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::lwp::LwpId;
use userlib::process;
use userlib::pset::PsetId;
use userlib::raw;

pub(crate) fn set(operand: &str) -> Result<PsetId, String> {
    number(operand).map(PsetId::from_raw).ok_or(format!("invalid processor set ID {operand}"))
}

/// The CPUs of all operands: `2`, `1-4`.
pub(crate) fn cpus(operands: &[String]) -> Result<Vec<CpuId>, String> {
    let mut cpus = Vec::new();
    for operand in operands {
        let range = range(operand, operand).ok_or(format!("invalid processor ID {operand}"))?;
        cpus.extend(range.map(CpuId::from_raw));
    }
    Ok(cpus)
}

/// A process, or some LWPs of one: `pid`, `pid/2,3,4-8`, where `-4` and `4-` are ranges too.
pub(crate) struct Target {
    pub(crate) pid: i32,
    /// None: all of them together.
    lwps: Option<Vec<RangeInclusive<i32>>>,
}

pub(crate) fn target(operand: &str) -> Result<Target, String> {
    let (pid, lwps) = match operand.split_once('/') {
        Some((pid, lwps)) => (pid, Some(lwps)),
        None => (operand, None),
    };
    let pid = number(pid).ok_or(format!("invalid process ID {operand}"))?;
    let parts = |lwps: &str| lwps.split(',').map(open_range).collect::<Option<Vec<_>>>();
    match lwps.map(parts) {
        Some(None) => Err(format!("invalid LWP list {operand}")),
        lwps => Ok(Target { pid, lwps: lwps.flatten() }),
    }
}

impl Target {
    /// The LWPs that are named and that the process has. None: the process itself is meant.
    pub(crate) fn lwps(&self) -> Option<Vec<LwpId>> {
        let ranges = self.lwps.as_ref()?;
        let all = lwps_of(self.pid);
        let is_named = |lwp: &LwpId| ranges.iter().any(|range| range.contains(&lwp.raw()));
        Some(all.into_iter().filter(is_named).collect())
    }
}

/// The LWPs of a process: tids from its own on, until there are as many as it has.
fn lwps_of(pid: i32) -> Vec<LwpId> {
    let count = process::next(pid - 1).ok().filter(|info| info.pid == pid).map_or(0, |info| info.lwps);
    // SAFETY: signal 0 is sent to nobody: it asks whether the process has that LWP.
    let has = |&tid: &i32| Errno::from_return(unsafe { raw::tgkill(pid, tid, 0) }).is_ok();
    const TIDS: i32 = 1 << 17;
    (pid..TIDS).chain(1..pid).filter(has).take(count as usize).map(LwpId::from_raw).collect()
}

fn open_range(text: &str) -> Option<RangeInclusive<i32>> {
    match text.split_once('-') {
        Some(("", last)) => Some(1..=number(last)?),
        Some((first, "")) => Some(number(first)?..=i32::MAX),
        Some((first, last)) => Some(number(first)?..=number(last)?),
        None => range(text, text),
    }
}

/// `first-last`, or one number.
fn range(text: &str, alone: &str) -> Option<RangeInclusive<i32>> {
    let (first, last) = text.split_once('-').unwrap_or((alone, alone));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

fn number(text: &str) -> Option<i32> {
    text.parse().ok().filter(|&number: &i32| number >= 0)
}
