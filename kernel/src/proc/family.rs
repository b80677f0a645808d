//! The table of processes: the slots they lie in, who is whose child, and the ends that `wait` is told of.
//!
//! **One lock**, the family's, guards the relations ([`kcore::process`]), the making findable and the reaping of
//! processes. Whoever has found a process under it may use that process until the lock is released: it can end
//! meanwhile, but not be reaped and its slot not become another's.
//!
//! **No end is missed.** A waiter looks under the lock and, where it finds nothing, says on its LWP that it waits before
//! the lock is released. A process that ends becomes waitable under the lock and then wakes those of its parent's LWPs
//! that said so. So the waiter either sees the end or is woken by it.

use super::process::{Process, Remains};
use super::slots::Slots;
use super::{Ending, Lwp, table};
use crate::cpu::Here;
use crate::mm::layout;
use crate::sched;
use crate::sync::{Guard, Lock, Rank};
use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering::Relaxed;
use kcore::process::{Change, Found, Interest, ProcessSlot, Which};
use syscalls::Errno;

/// So many processes there can be.
const MOST: usize = 1 << 14;

const _: () =
    assert!(MOST * size_of::<Process>() <= (layout::PROCESSES.end - layout::PROCESSES.start) as usize);

/// The pid of the first process, which takes the orphans.
const FIRST: u32 = 1;

static PROCESSES: Slots<Process, { layout::PROCESSES.start }, MOST> = Slots::new(|place, number| {
    place.write(Process::free(number));
});

static FAMILY: Lock<kcore::process::Family> = Lock::new(Rank::Family, kcore::process::Family::new());

/// The table, locked.
pub(super) struct Family(Guard<'static, kcore::process::Family>);

/// Takes the family's lock.
pub(super) fn lock() -> Family {
    Family(FAMILY.lock())
}

impl Deref for Family {
    type Target = kcore::process::Family;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Family {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Calls `each` for every process that is meant, ended or not.
pub(super) fn for_each_meant(
    family: &mut Family,
    which: Which,
    mut each: impl FnMut(&mut Family, &'static Process),
) {
    let mut next = family.meant_from(0, which);
    while let Some(slot) = next {
        each(family, process(slot));
        next = family.meant_from(slot.number() + 1, which);
    }
}

/// Calls `each` for every process that is meant, ended or not, under the family's lock.
pub(crate) fn for_each(which: Which, mut each: impl FnMut(&'static Process)) {
    for_each_meant(&mut lock(), which, |_, process| each(process));
}

/// The process, or free place, at `slot`.
pub(super) fn process(slot: ProcessSlot) -> &'static Process {
    PROCESSES.at(slot.number())
}

/// A free slot for a process, for which there is room in the table too. EAGAIN, ENOMEM.
pub(super) fn take_slot() -> Result<&'static Process, Errno> {
    let process = PROCESSES.take()?;
    lock().reserve(PROCESSES.count()).inspect_err(|_| give_back_slot(process))?;
    Ok(process)
}

/// Frees the slot of a process that was reaped or never began.
pub(super) fn give_back_slot(process: &'static Process) {
    PROCESSES.give_back(process.slot.number());
}

/// How many processes there are, those that wait to be reaped included.
pub(crate) fn count() -> usize {
    lock().count()
}

/// The process group of a process.
pub(crate) fn group_of(process: &Process) -> u32 {
    lock().group(process.slot)
}

/// Calls `look` with the table and the place of the process of that pid. ESRCH.
pub(crate) fn with_relations<T>(
    pid: u32,
    look: impl FnOnce(&kcore::process::Family, ProcessSlot) -> T,
) -> Result<T, Errno> {
    let family = lock();
    let slot = family.find(pid).ok_or(Errno::ESRCH)?;
    Ok(look(&family, slot))
}

/// Moves process `pid` to `group`; 0: one of its own. ESRCH: it is neither `caller` nor a child of that; EPERM: it
/// leads its session, or there is no such group in it.
pub(crate) fn set_group(caller: &Process, pid: u32, group: u32) -> Result<(), Errno> {
    let mut family = lock();
    let slot = family.find(pid).ok_or(Errno::ESRCH)?;
    if slot != caller.slot && family.parent(slot) != Some(caller.slot) {
        return Err(Errno::ESRCH);
    }
    family.set_group(slot, group)
}

/// A session of its own for a process; returns its id. EPERM: it leads a group.
pub(crate) fn begin_session(process: &Process) -> Result<u32, Errno> {
    lock().begin_session(process.slot)
}

/// Calls `look` with the process of that pid, which may have ended but is not reaped.
pub(crate) fn with_process<T>(pid: u32, look: impl FnOnce(&'static Process) -> T) -> Option<T> {
    let family = lock();
    family.find(pid).map(|slot| look(process(slot)))
}

/// What is told of a process to anyone who asks.
pub(crate) struct Description {
    pub(crate) process: &'static Process,
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) has_ended: bool,
}

/// Calls `look` with the process of the lowest pid above `pid`, which may have ended but is not reaped.
pub(crate) fn with_next<T>(pid: u32, look: impl FnOnce(&Description) -> T) -> Option<T> {
    let family = lock();
    let slot = family.next_above(pid)?;
    Some(look(&Description {
        process: process(slot),
        pid: family.pid(slot),
        parent: family.parent(slot).map_or(0, |parent| family.pid(parent)),
        group: family.group(slot),
        session: family.session(slot),
        has_ended: family.has_ended(slot),
    }))
}

/// The last LWP of a process has been reclaimed: its parent may wait for it, and is told.
pub(super) fn end(ended: &'static Process) {
    let mut family = lock();
    let parent = family.parent(ended.slot);
    family.children(ended.slot).for_each(|orphan| process(orphan).parent.store(FIRST, Relaxed));
    let orphans_ended = family.end(ended.slot);
    if let Some(parent) = parent {
        tell_parent(&mut family, parent, ended.slot);
    }
    if orphans_ended && let Some(first) = family.find(FIRST) {
        while let Found::Ended(orphan) = family.look(first, Which::Any, Interest::ENDS)
            && forgets_children(first)
        {
            forget(&mut family, orphan);
        }
        wake_waiters(first);
    }
}

fn tell_parent(family: &mut Family, parent: ProcessSlot, ended: ProcessSlot) {
    if forgets_children(parent) {
        forget(family, ended);
    }
    wake_waiters(parent);
}

fn forgets_children(parent: ProcessSlot) -> bool {
    process(parent).signal_actions.lock().forgets_children()
}

/// All LWPs of a living process have stopped, or it goes on: its parent can be told.
pub(super) fn changed(family: &mut Family, process: &Process, change: Change) {
    family.change(process.slot, change);
    if let Some(parent) = family.parent(process.slot) {
        wake_waiters(parent);
    }
}

/// Wakes the LWPs of a process that wait for its children. Under the family's lock.
fn wake_waiters(parent: ProcessSlot) {
    process(parent).for_each_member(|lwp| {
        if lwp.waits_for_child.take() {
            sched::wake(lwp);
        }
    });
}

/// Reaps a process that has ended: it can be found no more, and its pid and slot are free.
fn forget(family: &mut Family, ended: ProcessSlot) {
    let process = process(ended);
    family.remove(ended);
    table::free_id(process.pid());
    process.end();
    give_back_slot(process);
}

/// What a wait found of a child.
#[derive(Debug, Clone, Copy)]
pub(crate) struct News {
    pub(crate) pid: u32,
    pub(crate) uid: u32,
    pub(crate) event: Event,
    /// Its time and what else it went through; that of the children that it waited for is in it if it has ended.
    pub(crate) remains: Remains,
}

/// What happened to a child.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Ended(Ending),
    Changed(Change),
}

/// What becomes of what a wait found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// It is told once: a child that has ended is reaped.
    Tell,
    /// It can be waited for again.
    Keep,
}

/// How long a wait waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Until there is an ended child.
    Block,
    /// Not at all.
    LookOnly,
}

/// Waits until there is something to tell of a child of the running process; None where that would need waiting that is
/// not wanted. ECHILD: there is no such child; EINTR: the LWP must end.
pub(crate) fn wait(
    which: Which,
    interest: Interest,
    patience: Patience,
    afterwards: Afterwards,
) -> Result<Option<News>, Errno> {
    let lwp = Here::get().lwp();
    loop {
        match look(lwp, which, interest, afterwards)? {
            None if patience == Patience::Block => sched::block(),
            found => return Ok(found),
        }
        if lwp.is_killed() {
            return Err(Errno::EINTR);
        }
    }
}

/// Looks once. Where there is nothing yet, what comes later wakes the LWP.
fn look(lwp: &Lwp, which: Which, interest: Interest, afterwards: Afterwards) -> Result<Option<News>, Errno> {
    let mut family = lock();
    let parent = lwp.process();
    let news = match family.look(parent.slot, which, interest) {
        Found::NoChild => return Err(Errno::ECHILD),
        Found::Living => {
            lwp.waits_for_child.set(true);
            return Ok(None);
        }
        Found::Changed(slot, change) => news(process(slot), Event::Changed(change)),
        Found::Ended(slot) => {
            let ending = process(slot).ending().expect("an ended process has an ending");
            news(process(slot), Event::Ended(ending))
        }
    };
    if afterwards == Afterwards::Tell {
        let slot = family.find(news.pid).expect("it was just found");
        match news.event {
            Event::Changed(_) => family.told(slot),
            Event::Ended(_) => {
                parent.add_child(&news.remains);
                forget(&mut family, slot);
            }
        }
    }
    Ok(Some(news))
}

fn news(child: &Process, event: Event) -> News {
    News { pid: child.pid(), uid: child.uid(), event, remains: child.remains() }
}
