//! Binding LWPs to sets and to CPUs.

use super::meant::{Bound, Found};
use super::{Named, SETS, find};
use crate::cpu::{self, Cpu, Here};
use crate::proc::Lwp;
use crate::sched::{self, Partition, partition};
use kcore::pset::{PsetId, Sets};
use kcore::sched::balance::CpuSet;
use syscalls::Errno;

/// To which CPUs an LWP keeps, of those of its set. Guarded by the lock of the sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding {
    /// The CPU that it is bound to by `processor_bind`.
    cpu: Option<u32>,
    /// The CPUs that `sched_setaffinity` named; they count while it is bound to none.
    affinity: CpuSet,
    /// It is about to end, and is bound to nothing any more.
    has_left: bool,
}

impl Binding {
    /// To all.
    pub(crate) const fn new() -> Self {
        Binding { cpu: None, affinity: CpuSet(u64::MAX), has_left: false }
    }

    fn wanted(self) -> CpuSet {
        self.cpu.map_or(self.affinity, |cpu| CpuSet(0).with(cpu))
    }
}

/// Gives an LWP another binding, unless it is about to end, and the CPUs their counts. Under the lock of the sets.
fn set_binding(_sets: &Sets, lwp: &Lwp, binding: Binding) {
    let before = lwp.binding.get();
    if before.has_left {
        return;
    }
    lwp.binding.set(binding);
    before.cpu.and_then(cpu::get).into_iter().for_each(Cpu::unbind_lwp);
    binding.cpu.and_then(cpu::get).into_iter().for_each(Cpu::bind_lwp);
    lwp.want_cpus(binding.wanted());
}

/// A new LWP is added to its process by `add`, and bound as its maker, the caller, at the same moment: whoever finds it in
/// the process finds it bound. The first one, which the kernel makes, is bound to nothing. What `add` says; nothing has
/// happened where that fails.
pub(crate) fn admit(lwp: &Lwp, add: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
    let sets = SETS.lock();
    add()?;
    lwp.binding.set(Binding::new());
    let maker = Here::get().current.get();
    let partition = maker.map_or(sched::DEFAULT, Lwp::partition);
    sched::inherit(lwp, partition);
    partition.gain();
    if let Some(maker) = maker {
        set_binding(&sets, lwp, maker.binding.get());
    }
    Ok(())
}

/// The running LWP is about to end: from now on it does not count where it is bound. It runs there to its end.
pub(crate) fn leave(lwp: &Lwp) {
    let sets = SETS.lock();
    set_binding(&sets, lwp, Binding { has_left: true, ..Binding::new() });
    lwp.partition().lose();
}

/// An LWP goes to the partition of another set, and counts there.
fn move_to(_sets: &Sets, lwp: &'static Lwp, tid: u32, to: &'static Partition) {
    if !lwp.binding.get().has_left {
        lwp.partition().lose();
        to.gain();
    }
    sched::move_lwp(lwp, tid, to);
}

/// Binds LWPs to a set, all or none; returns what the one of the lowest tid was bound to (None: nothing). EINVAL: there is no
/// such set; ESRCH: nobody is meant; EPERM: one of them is another user's; then what `check` says; EINVAL: the set is empty;
/// EBUSY: one of them is bound to a CPU that is not in it. On return none of them runs where it may not; the caller leaves on
/// its way to user mode.
pub(crate) fn bind_to_set(
    named: Named,
    meant: Bound,
    check: Result<(), Errno>,
) -> Result<Option<PsetId>, Errno> {
    let (meant, old) = {
        let sets = SETS.lock();
        let place = find(&sets, named)?;
        let meant = meant.find(&sets)?;
        meant.check_owner()?;
        check?;
        let cpus = sets.cpus(place);
        if cpus.is_empty() {
            return Err(Errno::EINVAL);
        }
        if meant.any(|lwp| lwp.binding.get().cpu.is_some_and(|cpu| !cpus.has(cpu))) {
            return Err(Errno::EBUSY);
        }
        let old = meant.lowest().and_then(|lwp| sets.id(lwp.partition().number()));
        meant.for_each(|lwp, tid| move_to(&sets, lwp, tid, partition(place)));
        (meant.now_in(place), old)
    };
    meant.settle();
    Ok(old)
}

/// What LWPs are bound to, of those of the lowest tid. ESRCH; EINVAL.
pub(crate) fn set_of_lwps(meant: Bound) -> Result<Option<PsetId>, Errno> {
    let sets = SETS.lock();
    let lwp = meant.find(&sets)?.lowest().ok_or(Errno::ESRCH)?;
    Ok(sets.id(lwp.partition().number()))
}

/// EINVAL: there is no such CPU to bind to.
pub(crate) fn check_cpu(cpu: Option<u32>) -> Result<(), Errno> {
    if cpu.is_some_and(|cpu| cpu::get(cpu).is_none()) { Err(Errno::EINVAL) } else { Ok(()) }
}

/// Binds LWPs to a CPU that there is (None: to none), all or none; returns what the one of the lowest tid was bound to. ESRCH,
/// EPERM; then what `check` says; EINVAL: the CPU is not in the set of one of them. On return none of them
/// runs where it may not; the caller leaves on its way to user mode.
pub(crate) fn bind_to_cpu(
    cpu: Option<u32>,
    meant: Bound,
    check: Result<(), Errno>,
) -> Result<Option<u32>, Errno> {
    let (meant, old) = {
        let sets = SETS.lock();
        let meant = meant.find(&sets)?;
        meant.check_owner()?;
        check?;
        if cpu.is_some_and(|cpu| meant.any(|lwp| !lwp.partition().cpus().has(cpu))) {
            return Err(Errno::EINVAL);
        }
        let old = meant.lowest().and_then(|lwp| lwp.binding.get().cpu);
        meant.for_each(|lwp, _| set_binding(&sets, lwp, Binding { cpu, ..lwp.binding.get() }));
        (meant, old)
    };
    meant.settle();
    Ok(old)
}

/// Which CPU LWPs are bound to, of those of the lowest tid. ESRCH; EINVAL.
pub(crate) fn cpu_of_lwps(meant: Bound) -> Result<Option<u32>, Errno> {
    let sets = SETS.lock();
    let lwp = meant.find(&sets)?.lowest().ok_or(Errno::ESRCH)?;
    Ok(lwp.binding.get().cpu)
}

/// Has an LWP keep to some CPUs while it is bound to none. EPERM: it is another user's; EINVAL: none of them is in its set.
pub(crate) fn set_affinity(tid: u32, affinity: CpuSet) -> Result<(), Errno> {
    let meant = {
        let sets = SETS.lock();
        let meant = Bound::Lwp(tid).find(&sets)?;
        meant.check_owner()?;
        if meant.any(|lwp| lwp.partition().cpus().and(affinity).is_empty()) {
            return Err(Errno::EINVAL);
        }
        meant.for_each(|lwp, _| set_binding(&sets, lwp, Binding { affinity, ..lwp.binding.get() }));
        meant
    };
    meant.settle();
    Ok(())
}

/// All LWPs that are bound to the set in a place are unbound, which is about to go. Under the lock of the sets.
pub(super) fn unbind_all_of(sets: &Sets, place: usize) {
    Found::all_in(place).for_each(|lwp, tid| move_to(sets, lwp, tid, sched::DEFAULT));
}
