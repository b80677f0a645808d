//! The glue between the ledgers and those who ask: which ledger, whose lock, which clock.
//!
//! The rules, and why they hold from any CPU, stand in `kcore::acct`. Readers here stop nobody. An LWP is read through
//! its slot, which stays valid for ever; the ledger tells whether it is still the LWP that was meant. A process is
//! summed up under its lock, under which its LWPs are also taken out, so that none is missed or doubled.

use crate::arch::{clock, clock_fenced};
use crate::cpu::{self, Here};
use crate::proc::{Lwp, Process, table};
use core::sync::atomic::Ordering::Relaxed;
use kcore::acct::{self, CpuLedger, CpuTicks, Microstates, Usage, laws};

/// What an LWP or a process went through besides time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) faults: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

impl core::ops::Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            faults: self.faults + other.faults,
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
        }
    }
}

/// The running LWP's own time, up to now.
#[inline]
pub(crate) fn own_usage(here: Here) -> Usage {
    acct::read_own(&here.ledger, &here.lwp().ledger, clock)
}

/// All states of LWP `tid`, up to now; None where there is no such LWP any more.
#[inline]
pub(crate) fn microstates(tid: u32) -> Option<Microstates> {
    let states = acct::read_lwp(&table::find(tid)?.ledger, tid, cpu_ledger, clock_fenced)?;
    check(laws::two(&states));
    Some(states)
}

/// The time that LWP `tid` used, up to now; None where there is no such LWP any more.
#[inline(always)]
pub(crate) fn usage(tid: u32) -> Option<Usage> {
    acct::read_usage(&table::find(tid)?.ledger, tid, cpu_ledger, clock_fenced)
}

/// All states of a CPU, up to now; None where there is no such CPU.
pub(crate) fn cpu_ticks(number: u32) -> Option<CpuTicks> {
    let ticks = acct::read_cpu(&cpu::get(number)?.ledger, clock_fenced);
    check(laws::one(&ticks));
    Some(ticks)
}

/// Laws 1 and 2 at a switch, in debug builds: for the CPU, and for the LWP that it leaves. Under the dispatcher's lock.
#[inline]
pub(crate) fn check_switch(here: Here, from: Option<&Lwp>, now: u64) {
    if cfg!(debug_assertions) {
        check(laws::one(&acct::read_cpu(&here.ledger, || now)));
        let states = from.and_then(|lwp| acct::read_any(&lwp.ledger, lwp.ledger.tid(), cpu_ledger, || now));
        check(states.map_or(Ok(()), |(_, states)| laws::two(&states)));
    }
}

/// Debug builds panic where a law does not hold.
pub(crate) fn check(law: Result<(), laws::Broken>) {
    if cfg!(debug_assertions)
        && let Err(broken) = law
    {
        panic!("{broken}");
    }
}

/// The time of all LWPs that `process` ever had, up to now.
pub(crate) fn process_usage(process: &Process) -> Usage {
    process.with_ledger(|ledger, members| ledger.own(members.iter().map(|lwp| member_usage(lwp))))
}

/// The time of the children that `process` waited for.
pub(crate) fn children_usage(process: &Process) -> Usage {
    process.with_ledger(|ledger, _| ledger.children())
}

/// What an LWP went through.
pub(crate) fn lwp_counts(lwp: &Lwp) -> Counts {
    Counts {
        faults: lwp.faults.load(Relaxed),
        voluntary: lwp.voluntary.load(Relaxed),
        involuntary: lwp.involuntary.load(Relaxed),
    }
}

/// Under the lock of the LWP's process: its ledger is not retired, though it may have ended or not yet begun.
pub(crate) fn member_usage(lwp: &'static Lwp) -> Usage {
    acct::read_any(&lwp.ledger, lwp.tid(), cpu_ledger, clock_fenced)
        .map_or(Usage::default(), |(_, m)| m.usage())
}

/// The ledger of a CPU that an LWP is on.
pub(crate) fn cpu_ledger(number: u32) -> &'static CpuLedger {
    &cpu::get(number).expect("an LWP is on a CPU that is up").ledger
}
