//! The time of all LWPs that ever lived, against that of all CPUs: law 3, for the whole machine at one moment.
//!
//! **An LWP's time is never in between.** Its ledger is retired and its time booked here under one lock, within which
//! nothing is waited for. So where all CPUs are made to stand still, be it in a wait for a lock, every LWP is either in
//! its ledger or in the total. **One moment**: the sums are taken for one reading of the clock, made when all stand
//! still; every stamp in the ledgers is older.

use super::{Lwp, table};
use crate::acct::{check, cpu_ledger};
use crate::arch::clock_fenced;
use crate::cpu;
use crate::sync::{Lock, Rank};
use kcore::acct::{self, CpuTicks, MachineLedger, Usage, laws};
use kcore::sched::Slot;

/// Where the time of all LWPs that are no more is kept.
static ENDED: Lock<MachineLedger> = Lock::new(Rank::Table, MachineLedger::new());

/// Takes what an ended LWP used out of its ledger, and adds it to the machine's total of LWPs that are no more.
pub(super) fn retire(lwp: &Lwp) -> Usage {
    let mut ended = ENDED.lock();
    let used = lwp.ledger.retire();
    ended.add_ended(used);
    used
}

/// What all LWPs that ever lived used, and what became of all CPUs' time, up to now.
pub(crate) struct MachineTimes {
    pub(crate) lwps: Usage,
    /// The sums over all CPUs.
    pub(crate) cpus: CpuTicks,
}

/// Sums up the machine, whose CPUs stand still meanwhile; debug builds check the law. The caller holds no lock.
pub(crate) fn times() -> MachineTimes {
    cpu::hold_all(|| {
        let now = clock_fenced();
        let slots = (0..table::slot_count() as u32).map(|number| table::lwp(Slot::new(number)));
        let lwps = ENDED.lock().lwps(slots.map(|lwp| usage_at(lwp, now)));
        let cpus = cpu::all().map(|cpu| acct::read_cpu(&cpu.ledger, || now)).fold(CpuTicks::default(), add);
        check(laws::three(lwps, [cpus]));
        MachineTimes { lwps, cpus }
    })
}

/// What the LWP in this slot used, if there is one.
fn usage_at(lwp: &Lwp, now: u64) -> Usage {
    let tid = lwp.ledger.tid();
    let read = (tid != 0).then(|| acct::read_any(&lwp.ledger, tid, cpu_ledger, || now)).flatten();
    read.map_or(Usage::default(), |(_, states)| states.usage())
}

fn add(sum: CpuTicks, cpu: CpuTicks) -> CpuTicks {
    CpuTicks {
        user: sum.user + cpu.user,
        system: sum.system + cpu.system,
        irq: sum.irq + cpu.irq,
        idle: sum.idle + cpu.idle,
        up: sum.up + cpu.up,
    }
}
