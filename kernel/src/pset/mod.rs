//! Processor sets: the glue between the sets that users know, the dispatcher's partitions and the LWPs.
//!
//! **One lock**, that of the sets, guards which sets there are (`kcore::pset`), the partitions' CPUs, and to which set and
//! CPU LWPs are bound. Whatever is asked is checked under it first, then done under it, so nothing is half done; an LWP that
//! is being made takes its maker's bindings under it, so a bind of a whole process misses none.
//!
//! **Leaving.** Where LWPs may run has changed when the lock is released; then the caller waits until those that ran
//! elsewhere have left. Not under the lock: one of them may be waiting for it.
//!
//! A place of `kcore::pset` is the partition of the same number.

mod bind;
mod meant;

pub(crate) use bind::{
    Binding, admit, bind_to_cpu, bind_to_set, check_cpu, cpu_of_lwps, leave, set_affinity, set_of_lwps,
};
pub(crate) use meant::Bound;
use meant::Found;

use crate::cpu::{self, Here};
use crate::sched::{self, partition};
use crate::sync::{Lock, Rank};
use kcore::loadavg::Averages;
use kcore::pset::{Assigned, Bindings, DEFAULT, PsetId, Sets};
use kcore::sched::balance::CpuSet;
use syscalls::Errno;

static SETS: Lock<Sets> = Lock::new(Rank::Psets, Sets::new());

/// A set as a user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// `PS_NONE`: the default set.
    Default,
    /// `PS_MYID`: the caller's; the default set where the caller is bound to none.
    Own,
    /// The one of this id, if there is one.
    Id(i32),
}

/// A CPU comes up, in the default set.
pub(crate) fn add_cpu(cpu: u32) {
    SETS.lock().add_cpu(cpu);
    sched::DEFAULT.admit(cpu);
}

/// Where the set is that is named. EINVAL: there is none.
#[inline]
fn find(sets: &Sets, named: Named) -> Result<usize, Errno> {
    match named {
        Named::Default => Ok(DEFAULT),
        Named::Own => Ok(Here::get().lwp().partition().number()),
        Named::Id(id) => sets.find(id),
    }
}

/// Whether there is a set of that name. EINVAL.
pub(crate) fn check(named: Named) -> Result<(), Errno> {
    find(&SETS.lock(), named).map(|_| ())
}

/// Makes a set. ENOMEM: there are too many.
pub(crate) fn create() -> Result<PsetId, Errno> {
    let mut sets = SETS.lock();
    let (id, place) = sets.create()?;
    partition(place).begin();
    Ok(id)
}

/// Destroys a set: its LWPs become unbound, its CPUs go to the default set. EINVAL: there is none of that name, or it is the
/// default one.
pub(crate) fn destroy(named: Named) -> Result<(), Errno> {
    let cpus = {
        let mut sets = SETS.lock();
        let place = find(&sets, named)?;
        if place == DEFAULT {
            return Err(Errno::EINVAL);
        }
        bind::unbind_all_of(&sets, place);
        let cpus = sets.destroy(place);
        cpus.iter().filter_map(cpu::get).for_each(|cpu| sched::move_cpu(cpu, sched::DEFAULT));
        cpus
    };
    cpus.iter().filter_map(cpu::get).for_each(sched::clear_cpu);
    Found::all_in(DEFAULT).settle();
    Ok(())
}

/// The set that a CPU is in; None: the default one. EINVAL: there is no such CPU.
pub(crate) fn set_of(cpu: i32) -> Result<Option<PsetId>, Errno> {
    let sets = SETS.lock();
    sets.place_of(cpu).map(|place| sets.id(place))
}

/// Moves a CPU to a set, and returns the one that it was in. EINVAL: there is no such CPU, or no such set; then what
/// `check` says; EBUSY as `kcore::pset` says.
pub(crate) fn assign(named: Named, cpu: i32, check: Result<(), Errno>) -> Result<Option<PsetId>, Errno> {
    let (old, moved) = {
        let mut sets = SETS.lock();
        let from = sets.place_of(cpu)?;
        let to = find(&sets, named)?;
        check?;
        let cpu = cpu::get(cpu as u32).ok_or(Errno::EINVAL)?;
        let bindings = Bindings { in_set: partition(from).lwps(), to_cpu: cpu.bound_lwps() };
        let old = sets.id(from);
        let moved = match sets.assign(cpu.number(), to, bindings)? {
            Assigned::Stays => None,
            Assigned::Moved { to, .. } => {
                sched::move_cpu(cpu, partition(to));
                Some((cpu, to))
            }
        };
        (old, moved)
    };
    if let Some((cpu, to)) = moved {
        sched::clear_cpu(cpu);
        Found::all_in(to).settle(); // some may prefer it
    }
    Ok(old)
}

/// What there is to know of a set.
pub(crate) struct Description {
    /// None: the default one.
    pub(crate) id: Option<PsetId>,
    pub(crate) cpus: CpuSet,
}

/// Describes a set. EINVAL: there is none of that name.
pub(crate) fn describe(named: Named) -> Result<Description, Errno> {
    let sets = SETS.lock();
    let place = find(&sets, named)?;
    Ok(Description { id: sets.id(place), cpus: sets.cpus(place) })
}

/// Calls `each` with the ids of all sets but the default one, the oldest first; returns how many there are.
pub(crate) fn for_each(each: impl FnMut(PsetId)) -> usize {
    let sets = SETS.lock();
    sets.ids().map(each).count()
}

/// The load averages of a set, up to now. EINVAL: there is none of that name.
pub(crate) fn averages(named: Named) -> Result<Averages, Errno> {
    let sets = SETS.lock();
    Ok(partition(find(&sets, named)?).averages())
}

/// Those of the default set, if the moment is a quiet one, and they can be read on the way.
#[inline(always)]
pub(crate) fn quiet_averages() -> Option<Averages> {
    let _no_cpu_moves = SETS.try_lock()?;
    sched::DEFAULT.quiet_averages()
}

/// The load averages of the machine: what those of all sets add up to, at one moment.
pub(crate) fn machine_averages() -> Averages {
    let sets = SETS.lock();
    sched::averages_of(sets.in_use().map(partition))
}
