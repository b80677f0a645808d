//! What CPUs did between two looks, in a second.

use programs::model::all_cpus;
use std::ops::AddAssign;
use userlib::cpu::{self, CpuId, CpuInfo};
use userlib::pset::PsetId;

/// A CPU at one moment.
pub(crate) struct Sample {
    pub(crate) cpu: CpuId,
    pub(crate) set: PsetId,
    /// Counts, in the order of the columns, and nanoseconds of user, system and idle time.
    counts: [u64; COUNTS],
    times: [u64; 3],
}

/// The columns that are counts: `minf xcal intr csw icsw migr smtx syscl`.
pub(crate) const COUNTS: usize = 8;

/// What a CPU, or a set of `cpus` of them, did.
#[derive(Clone)]
pub(crate) struct Rates {
    /// Of the CPU, or the set.
    pub(crate) number: i32,
    pub(crate) set: PsetId,
    pub(crate) cpus: u32,
    /// A second.
    pub(crate) counts: [f64; COUNTS],
    /// User, system, idle: per cent, of all its CPUs together.
    pub(crate) shares: [f64; 3],
}

/// All CPUs now.
pub(crate) fn samples() -> Vec<Sample> {
    let sample = |cpu| cpu::info(cpu).ok().map(|info| Sample::new(cpu, &info));
    all_cpus().into_iter().filter_map(sample).collect()
}

impl Sample {
    fn new(cpu: CpuId, info: &CpuInfo) -> Sample {
        Sample {
            cpu,
            set: PsetId::from_raw(info.pset),
            counts: [
                info.minor_faults,
                info.cross_calls,
                info.interrupts,
                info.switches,
                info.involuntary_switches,
                info.migrations,
                info.spins,
                info.system_calls,
            ],
            // The model counts interrupts as system time.
            times: [info.user, info.system + info.irq, info.idle],
        }
    }

    /// What it did in `seconds`, since the same CPU's sample in `before`, or since it came up.
    pub(crate) fn since(&self, before: &[Sample], seconds: f64) -> Rates {
        let before = before.iter().find(|sample| sample.cpu == self.cpu);
        let passed = |now: u64, then: Option<u64>| (now - then.unwrap_or(0)) as f64;
        let times: [f64; 3] =
            std::array::from_fn(|index| passed(self.times[index], before.map(|sample| sample.times[index])));
        let all: f64 = times.iter().sum::<f64>().max(1.0);
        Rates {
            number: self.cpu.raw(),
            set: self.set,
            cpus: 1,
            counts: std::array::from_fn(|index| {
                passed(self.counts[index], before.map(|sample| sample.counts[index])) / seconds
            }),
            shares: times.map(|time| 100.0 * time / all),
        }
    }
}

impl Rates {
    /// Of a set without CPUs.
    pub(crate) fn of_empty(set: PsetId) -> Rates {
        Rates { number: set.raw(), set, cpus: 0, counts: [0.0; COUNTS], shares: [0.0; 3] }
    }
}

impl AddAssign<&Rates> for Rates {
    /// Another CPU of the same set.
    fn add_assign(&mut self, other: &Rates) {
        let sum = |own: &mut [f64], others: &[f64]| own.iter_mut().zip(others).for_each(|(a, b)| *a += b);
        sum(&mut self.counts, &other.counts);
        sum(&mut self.shares, &other.shares);
        self.cpus += other.cpus;
    }
}
