//! Partitions: what a processor set is to the dispatcher. Every CPU and every LWP is in one, an LWP runs on the CPUs of its
//! own only, and each knows its load.
//!
//! **Who decides.** Processor sets as users know them, with their ids, rules and errors, are `crate::pset`'s, under its
//! lock: partitions change under that lock only, so who holds it sees them at rest.
//!
//! **CPUs.** A CPU is first taken out of the old partition's `cpus`, then, under its dispatcher's lock, given to the new one.
//! Whoever queues an LWP on it looks under that lock whether the LWP still may run there; so after the lock was taken once
//! nobody of the old partition comes any more. Who is still there is moved away ([`super::affinity`]).
//!
//! **Load** is an LWP's, and is booked at its stamps (`kcore::loadavg`): on the part of the CPU whose dispatcher's lock is
//! held, where that CPU is of the LWP's partition, else on the partition's own part, its *home*. A home is locked before the
//! stamp is taken, so a reader who takes its moment first and visits all parts then misses nothing.

use super::Dispatcher;
use super::ready::{lock_of, requeue};
use crate::arch::{clock, clock_fenced};
use crate::cpu::{self, Cpu, MAX_CPUS};
use crate::proc::Lwp;
use crate::sync::{Guard, Lock, Rank};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use kcore::loadavg::{Averages, Overtaken, Pace, Part};
use kcore::sched::balance::CpuSet;
use kcore::sched::place::Place;
use spin::Once;

/// One partition, in use or not.
pub(crate) struct Partition {
    number: u32,
    /// Its CPUs, as bits. Also read without the lock of processor sets.
    cpus: AtomicU64,
    /// How many LWPs are in it, but for those that are about to end. Changes under the lock of processor sets.
    lwps: AtomicU32,
    /// The load of what does not happen on one of its CPUs.
    home: Lock<Part>,
    /// Something was booked there since the set was made. Set with that lock held.
    home_is_used: AtomicBool,
}

/// As many as there can be sets, and the default one.
pub(crate) const PARTITIONS: usize = 2 * MAX_CPUS + 1;

static ALL: [Partition; PARTITIONS] = {
    let mut all = [const { Partition::new(0) }; PARTITIONS];
    let mut number = 0;
    while number < PARTITIONS {
        all[number].number = number as u32;
        number += 1;
    }
    all
};

/// The partition of all who are bound to no set.
pub(crate) static DEFAULT: &Partition = &ALL[0];

/// The partition of this number.
pub(crate) fn partition(number: usize) -> &'static Partition {
    &ALL[number]
}

/// How fast the averages' clock runs.
static PACE: Once<Pace> = Once::new();

/// Starts the averages' clock: `scale` times as fast as the real one, 1 to [`Pace::FASTEST`]. Before the first LWP.
pub(crate) fn set_pace(scale: u32) {
    PACE.call_once(|| Pace::new(crate::time::rate(), scale).expect("options give a scale that there is"));
}

#[inline]
pub(super) fn pace() -> &'static Pace {
    // SAFETY: boot sets it before there is an LWP that could be load.
    unsafe { PACE.get_unchecked() }
}

impl Partition {
    const fn new(number: u32) -> Self {
        Partition {
            number,
            cpus: AtomicU64::new(0),
            lwps: AtomicU32::new(0),
            home: Lock::new(Rank::Load, Part::new()),
            home_is_used: AtomicBool::new(false),
        }
    }

    /// Its number.
    pub(crate) fn number(&self) -> usize {
        self.number as usize
    }

    /// Its CPUs.
    #[inline]
    pub(crate) fn cpus(&self) -> CpuSet {
        CpuSet(self.cpus.load(SeqCst))
    }

    /// How many LWPs are in it, but for those that are about to end.
    pub(crate) fn lwps(&self) -> u32 {
        self.lwps.load(SeqCst)
    }

    /// One LWP more; under the lock of processor sets.
    pub(crate) fn gain(&self) {
        self.lwps.fetch_add(1, SeqCst);
    }

    /// One LWP less; likewise.
    pub(crate) fn lose(&self) {
        self.lwps.fetch_sub(1, SeqCst);
    }

    /// A CPU comes up in it.
    pub(crate) fn admit(&self, cpu: u32) {
        self.cpus.fetch_or(1 << cpu, SeqCst);
    }

    /// Its home, to book on: before the stamp is taken.
    fn lock_home(&self) -> Guard<'_, Part> {
        let home = self.home.lock();
        self.home_is_used.store(true, SeqCst);
        home
    }

    /// Begins anew as a set's that was just made: without CPUs, LWPs or load. Under the lock of processor sets.
    pub(crate) fn begin(&self) {
        debug_assert!(self.cpus().is_empty() && self.lwps() == 0);
        *self.home.lock() = Part::new();
        self.home_is_used.store(false, SeqCst);
    }

    /// Its averages at one moment; under the lock of processor sets.
    pub(crate) fn averages(&self) -> Averages {
        until_not_overtaken(|now| self.averages_at(now))
    }

    fn averages_at(&self, now: u64) -> Result<Averages, Overtaken> {
        // Where it is not used yet, nothing of before `now` will be booked there.
        let mut sum = match self.home_is_used.load(SeqCst) {
            true => self.home.lock().read(now, pace())?,
            false => Averages::default(),
        };
        for cpu in self.cpus().iter().filter_map(cpu::get) {
            sum += cpu.dispatcher.lock().load.read(now, pace())?;
        }
        Ok(sum)
    }

    /// The same in a quiet moment: where nothing was ever booked at its home, no CPU's lock is held, and no load has changed
    /// for a while. Otherwise None; then [`Partition::averages`] knows.
    #[inline(always)]
    pub(crate) fn quiet_averages(&self) -> Option<Averages> {
        let now = clock_fenced();
        if self.home_is_used.load(SeqCst) {
            return None;
        }
        let mut sum = Averages::default();
        for number in self.cpus().iter() {
            sum += cpu::get(number)?.dispatcher.try_lock()?.load.read_steady(now, pace())?;
        }
        Some(sum)
    }
}

/// The averages of several partitions together, at one moment; under the lock of processor sets.
pub(crate) fn averages_of(partitions: impl Iterator<Item = &'static Partition> + Clone) -> Averages {
    until_not_overtaken(|now| {
        partitions.clone().try_fold(Averages::default(), |mut sum, one| {
            sum += one.averages_at(now)?;
            Ok(sum)
        })
    })
}

/// A CPU, which is in one partition, goes to another, and what it had noted of the old one's load stays there. Under the
/// lock of processor sets. LWPs of the old partition may still be on it: [`super::affinity::clear_cpu`].
pub(crate) fn move_cpu(cpu: &'static Cpu, to: &'static Partition) {
    let mut dispatcher = cpu.dispatcher.lock();
    let from = dispatcher.partition;
    from.cpus.fetch_and(!(1 << cpu.number()), SeqCst);
    {
        let mut home = from.lock_home();
        home.absorb(&mut dispatcher.load, clock(), pace());
    }
    dispatcher.partition = to;
    to.admit(cpu.number());
}

/// A new LWP, which cannot run yet, begins in a partition. Under the lock of processor sets.
pub(crate) fn inherit(lwp: &Lwp, partition: &'static Partition) {
    lwp.set_partition(partition);
    lwp.is_counted.set(true);
}

/// The running LWP ends, and leaves its partition. With the lock of its CPU's dispatcher.
pub(super) fn leave(lwp: &Lwp) {
    lwp.is_counted.set(false);
}

/// An LWP goes to another partition, with its load if it is load; one that was made and is about to be started too. Nothing
/// happens where the LWP of that tid has ended. Under the lock of processor sets. It may still run where it may not:
/// [`super::affinity::leave_wrong_cpu`] is to follow.
pub(crate) fn move_lwp(lwp: &'static Lwp, tid: u32, to: &'static Partition) {
    let (cpu, mut dispatcher) = lock_of(lwp);
    if lwp.tid() != tid || !lwp.is_counted.get() {
        return;
    }
    let from = lwp.partition();
    if matches!(lwp.place(), Place::Running | Place::Queued) {
        dispatcher.carry_load(from, to);
    }
    lwp.set_partition(to);
    if lwp.place() == Place::Queued && !to.cpus().has(cpu.number()) && dispatcher.remove(cpu, lwp) {
        requeue(dispatcher, lwp);
    }
}

impl Dispatcher {
    /// The home of the load of `lwp`, locked, if it is not to be booked on this CPU's part.
    #[inline]
    pub(super) fn home_of(&self, lwp: &Lwp) -> Option<Guard<'static, Part>> {
        let partition = lwp.partition();
        if core::ptr::eq(partition, self.partition) { None } else { Some(partition.lock_home()) }
    }

    /// `lwp` becomes load at the stamp that `stamp` takes, and which is returned.
    #[inline]
    pub(super) fn more_load(&mut self, lwp: &Lwp, stamp: impl FnOnce() -> u64) -> u64 {
        let home = self.home_of(lwp);
        let now = stamp();
        match home {
            None => self.load.more(now, pace()),
            Some(home) => more_at(home, now),
        }
        now
    }

    /// An LWP ceases to be load at `now`, when its home, if that is where it is booked, was locked already.
    #[inline]
    pub(super) fn less_load(&mut self, home: Option<Guard<'static, Part>>, now: u64) {
        match home {
            None => self.load.less(now, pace()),
            Some(home) => less_at(home, now),
        }
    }

    /// An LWP that is load goes from one partition to another: at one moment, unless this CPU is of neither, as where it was
    /// moved on before it had left; two homes are not locked together.
    fn carry_load(&mut self, from: &'static Partition, to: &'static Partition) {
        if core::ptr::eq(from, to) {
        } else if core::ptr::eq(from, self.partition) {
            let mut home = to.lock_home();
            let now = clock();
            self.load.less(now, pace());
            home.more(now, pace());
        } else if core::ptr::eq(to, self.partition) {
            let mut home = from.lock_home();
            let now = clock();
            home.less(now, pace());
            self.load.more(now, pace());
        } else {
            let mut home = from.lock_home();
            home.less(clock(), pace());
            drop(home);
            let mut home = to.lock_home();
            home.more(clock(), pace());
        }
    }
}

/// Reads at a moment, and at another where too much happened meanwhile.
fn until_not_overtaken(read: impl Fn(u64) -> Result<Averages, Overtaken>) -> Averages {
    loop {
        if let Ok(averages) = read(clock_fenced()) {
            return averages;
        }
    }
}

/// Not often, hence out of the way of the other case.
#[cold]
fn more_at(mut home: Guard<'static, Part>, now: u64) {
    home.more(now, pace());
}

/// Likewise.
#[cold]
fn less_at(mut home: Guard<'static, Part>, now: u64) {
    home.less(now, pace());
}
