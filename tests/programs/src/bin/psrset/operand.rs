//! Operands: sets, CPUs and ranges of them, processes and lists of their LWPs.

use programs::model::all_cpus;
use programs::usage::{invalid, number};
use std::ops::RangeInclusive;
use userlib::Errno;
use userlib::cpu::CpuId;
use userlib::lwp::LwpId;
use userlib::process;
use userlib::pset::PsetId;
use userlib::raw;

const NUMBER: &str = "a number from 0 to 2147483647 is wanted";
const NUMBERS: &str = "numbers from 0 to 2147483647 are wanted";
const ORDER: &str = "a range begins with the lower number";

pub(crate) fn set(operand: &str) -> Result<PsetId, String> {
    number(operand).map(PsetId::from_raw).ok_or_else(|| invalid("processor set ID", operand, NUMBER))
}

/// The CPUs of all operands: `2`, `1-4`. A range ends with a CPU that there is, so that it is no longer than it can be.
pub(crate) fn cpus(operands: &[String]) -> Result<Vec<CpuId>, String> {
    let last = all_cpus().last().map_or(0, |cpu| cpu.raw());
    let mut cpus = Vec::new();
    for operand in operands {
        let range = match operand.split_once('-') {
            Some((first, end)) => range(first, end).and_then(|range| match *range.end() > last {
                true => Err(format!("the last processor is {last}")),
                false => Ok(range),
            }),
            None => number(operand).map(|cpu| cpu..=cpu).ok_or_else(|| NUMBER.into()),
        };
        let range = range.map_err(|problem| invalid("processor ID", operand, &problem))?;
        cpus.extend(range.map(CpuId::from_raw));
    }
    Ok(cpus)
}

/// A process, or some LWPs of one: `pid`, `pid/2,3,4-8`, where `-4` and `4-` are ranges too.
pub(crate) struct Target {
    pub(crate) pid: i32,
    /// None: all of them together.
    pub(crate) lwps: Option<Vec<Lwps>>,
}

/// A part of a list of LWPs.
pub(crate) struct Lwps {
    /// As it was written.
    pub(crate) text: String,
    range: RangeInclusive<i32>,
}

pub(crate) fn target(operand: &str) -> Result<Target, String> {
    let (pid, lwps) = match operand.split_once('/') {
        Some((pid, lwps)) => (pid, Some(lwps)),
        None => (operand, None),
    };
    let pid = number(pid).ok_or_else(|| invalid("process ID", operand, NUMBER))?;
    let parts = |lwps: &str| lwps.split(',').map(Lwps::parse).collect::<Result<Vec<_>, _>>();
    let lwps = lwps.map(parts).transpose();
    Ok(Target { pid, lwps: lwps.map_err(|problem| invalid("LWP list", operand, &problem))? })
}

impl Lwps {
    fn parse(text: &str) -> Result<Lwps, String> {
        let range = match text.split_once('-') {
            Some(("", last)) => range("1", last),
            Some((first, "")) => range(first, "2147483647"),
            Some((first, last)) => range(first, last),
            None => range(text, text),
        };
        Ok(Lwps { text: text.to_owned(), range: range? })
    }

    pub(crate) fn contains(&self, lwp: LwpId) -> bool {
        self.range.contains(&lwp.raw())
    }
}

/// The LWPs of a process: tids from its own on, until there are as many as it has. None: there is no such process.
pub(crate) fn lwps_of(pid: i32) -> Option<Vec<LwpId>> {
    let info = process::next(pid.checked_sub(1)?).ok().filter(|info| info.pid == pid && info.lwps > 0)?;
    // SAFETY: signal 0 is sent to nobody: it asks whether the process has that LWP.
    let has = |&tid: &i32| Errno::from_return(unsafe { raw::tgkill(pid, tid, 0) }).is_ok();
    const TIDS: i32 = 1 << 17;
    let lwps = (pid..TIDS).chain(1..pid).filter(has).take(info.lwps as usize);
    Some(lwps.map(LwpId::from_raw).collect())
}

fn range(first: &str, last: &str) -> Result<RangeInclusive<i32>, String> {
    let (first, last): (i32, i32) = number(first).zip(number(last)).ok_or(NUMBERS)?;
    if first <= last { Ok(first..=last) } else { Err(ORDER.into()) }
}
