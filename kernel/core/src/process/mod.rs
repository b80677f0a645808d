//! Who is whose child: the table of processes, and what `wait` finds in it.
//!
//! **Problem.** Processes are made, end, are waited for and lose their parents in any order, and a child's end must be
//! told to exactly one `wait`; so must its stops and its going on, if somebody asks in time. **Answer.** One table, under one lock of its owner: a process is in it from its making
//! until it is reaped, so a pid that is found names the process that it names as long as the lock is held.
//!
//! **Invariants.** Every process but the first has a parent that has not ended: an ending process hands its children
//! to the first one in the same step in which it becomes waitable. Siblings are in the order of their making. A process
//! that has ended has no children.
//!
//! The table knows processes by the numbers of their places, which are its owner's. Room is made where it may fail
//! ([`Family::reserve`]); nothing else allocates.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use syscalls::Errno;

/// The number of a process's place in the kernel's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessSlot(u32);

impl ProcessSlot {
    /// The place of this number; `u32::MAX` is none.
    #[must_use]
    pub const fn new(number: u32) -> ProcessSlot {
        debug_assert!(number != NONE);
        ProcessSlot(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which processes are meant, by `wait` among the caller's children, by `kill` among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Any.
    Any,
    /// The one with this pid.
    Pid(u32),
    /// Those of this process group.
    Group(u32),
}

/// What became of a living process, of which its parent can be told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// All its LWPs have stopped, for this signal.
    Stopped(u8),
    /// It goes on.
    Continued,
}

/// What a `wait` wants to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// Ends.
    pub ended: bool,
    /// Stops.
    pub stopped: bool,
    /// Going on.
    pub continued: bool,
}

impl Interest {
    /// Ends alone.
    pub const ENDS: Interest = Interest { ended: true, stopped: false, continued: false };

    const fn has(self, change: Change) -> bool {
        match change {
            Change::Stopped(_) => self.stopped,
            Change::Continued => self.continued,
        }
    }
}

/// What a `wait` finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Found {
    /// This child has ended and is not reaped.
    Ended(ProcessSlot),
    /// This happened to a child, and nobody was told.
    Changed(ProcessSlot, Change),
    /// There are such children, but there is nothing to tell of them.
    Living,
    /// There is no such child.
    NoChild,
}

/// No place.
const NONE: u32 = u32::MAX;
/// A power of two.
const BUCKETS: usize = 256;

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// 0: nobody is here.
    pid: u32,
    parent: u32,
    first_child: u32,
    last_child: u32,
    next_sibling: u32,
    previous_sibling: u32,
    next_in_bucket: u32,
    group: u32,
    session: u32,
    has_ended: bool,
    /// What its parent is to be told.
    change: Option<Change>,
}

impl Entry {
    const NOBODY: Entry = Entry {
        pid: 0,
        parent: NONE,
        first_child: NONE,
        last_child: NONE,
        next_sibling: NONE,
        previous_sibling: NONE,
        next_in_bucket: NONE,
        group: 0,
        session: 0,
        has_ended: false,
        change: None,
    };

    fn is(&self, which: Which) -> bool {
        match which {
            Which::Any => true,
            Which::Pid(pid) => self.pid == pid,
            Which::Group(group) => self.group == group,
        }
    }
}

/// All processes that are not reaped.
#[derive(Debug)]
pub struct Family {
    entries: Vec<Entry>,
    buckets: [u32; BUCKETS],
    count: usize,
    /// Where the first process is, who takes the orphans.
    first: u32,
    /// The highest pid that there ever was.
    highest_pid: u32,
}

impl Family {
    /// No process.
    #[must_use]
    pub const fn new() -> Family {
        Family { entries: Vec::new(), buckets: [NONE; BUCKETS], count: 0, first: NONE, highest_pid: 0 }
    }

    /// Makes room for the places 0…`slots` − 1. ENOMEM: nothing has changed.
    pub fn reserve(&mut self, slots: usize) -> Result<(), Errno> {
        let missing = slots.saturating_sub(self.entries.len());
        self.entries.try_reserve(missing).map_err(|_| Errno::ENOMEM)?;
        self.entries.resize(self.entries.len() + missing, Entry::NOBODY);
        Ok(())
    }

    /// How many processes there are, ended ones included.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// A process begins at `slot`, where nobody is and for which there is room. It is of its parent's group and session;
    /// the first process, which has no parent, begins its own.
    pub fn add(&mut self, slot: ProcessSlot, pid: u32, parent: Option<ProcessSlot>) {
        let (group, session) = parent.map_or((pid, pid), |parent| {
            let parent = self.entry(parent);
            (parent.group, parent.session)
        });
        let bucket = &mut self.buckets[bucket(pid)];
        let entry = Entry { pid, group, session, next_in_bucket: *bucket, ..Entry::NOBODY };
        *bucket = slot.0;
        debug_assert_eq!(self.entries[slot.index()].pid, 0, "somebody is at {slot:?}");
        self.entries[slot.index()] = entry;
        self.count += 1;
        self.highest_pid = self.highest_pid.max(pid);
        match parent {
            Some(parent) => self.put_last(parent, slot),
            None => self.first = slot.0,
        }
    }

    /// Where the process `pid` is, ended or not.
    #[must_use]
    pub fn find(&self, pid: u32) -> Option<ProcessSlot> {
        let mut place = self.buckets[bucket(pid)];
        while place != NONE {
            let entry = &self.entries[place as usize];
            if entry.pid == pid {
                return Some(ProcessSlot(place));
            }
            place = entry.next_in_bucket;
        }
        None
    }

    /// The process of the lowest pid above `pid`.
    #[must_use]
    pub fn next_above(&self, pid: u32) -> Option<ProcessSlot> {
        self.all(Which::Any)
            .filter(|&slot| self.entry(slot).pid > pid)
            .min_by_key(|&slot| self.entry(slot).pid)
    }

    /// Whether some process is of a group or session of this id, be its leader gone or not: a new process must not get
    /// it. Takes long only once pids are used again.
    #[must_use]
    pub fn names_a_group(&self, id: u32) -> bool {
        let is_of = |entry: &Entry| entry.pid != 0 && (entry.group == id || entry.session == id);
        id <= self.highest_pid && self.entries.iter().any(is_of)
    }

    /// All processes that are meant, ended or not.
    pub fn all(&self, which: Which) -> impl Iterator<Item = ProcessSlot> + '_ {
        let places = self.entries.iter().enumerate();
        places
            .filter(move |(_, entry)| entry.pid != 0 && entry.is(which))
            .map(|(index, _)| ProcessSlot(index as u32))
    }

    /// The first of the processes that are meant whose place is not below `from`, for those who change the table on their
    /// way through it.
    #[must_use]
    pub fn meant_from(&self, from: u32, which: Which) -> Option<ProcessSlot> {
        match which {
            Which::Pid(pid) => self.find(pid).filter(|slot| slot.0 >= from),
            _ => {
                let places = self.entries.iter().enumerate().skip(from as usize);
                let mut meant = places.filter(|(_, entry)| entry.pid != 0 && entry.is(which));
                meant.next().map(|(index, _)| ProcessSlot(index as u32))
            }
        }
    }

    /// The pid of a process.
    #[must_use]
    pub fn pid(&self, slot: ProcessSlot) -> u32 {
        self.entry(slot).pid
    }

    /// Where the parent of a process is; the first has none.
    #[must_use]
    pub fn parent(&self, slot: ProcessSlot) -> Option<ProcessSlot> {
        some(self.entry(slot).parent)
    }

    /// The children of a process, the eldest first, ended ones included.
    pub fn children(&self, parent: ProcessSlot) -> impl Iterator<Item = ProcessSlot> + '_ {
        let first = some(self.entry(parent).first_child);
        core::iter::successors(first, |&child| some(self.entry(child).next_sibling))
    }

    /// The process group.
    #[must_use]
    pub fn group(&self, slot: ProcessSlot) -> u32 {
        self.entry(slot).group
    }

    /// The session.
    #[must_use]
    pub fn session(&self, slot: ProcessSlot) -> u32 {
        self.entry(slot).session
    }

    /// Whether the process has ended and waits to be reaped.
    #[must_use]
    pub fn has_ended(&self, slot: ProcessSlot) -> bool {
        self.entry(slot).has_ended
    }

    /// Puts `slot` into `group`: 0 means one of its own. EPERM: it leads its session, or the group is of another
    /// session or does not exist.
    pub fn set_group(&mut self, slot: ProcessSlot, group: u32) -> Result<(), Errno> {
        let Entry { pid, session, .. } = *self.entry(slot);
        let group = if group == 0 { pid } else { group };
        let exists = |other: ProcessSlot| self.entry(other).session == session;
        if session == pid || (group != pid && !self.all(Which::Group(group)).any(exists)) {
            return Err(Errno::EPERM);
        }
        self.entries[slot.index()].group = group;
        Ok(())
    }

    /// A session, and a group, of its own for `slot`; returns their id. EPERM: there is a group of that id already.
    pub fn begin_session(&mut self, slot: ProcessSlot) -> Result<u32, Errno> {
        let pid = self.entry(slot).pid;
        if self.all(Which::Group(pid)).next().is_some() {
            return Err(Errno::EPERM);
        }
        let entry = &mut self.entries[slot.index()];
        (entry.group, entry.session) = (pid, pid);
        Ok(pid)
    }

    /// The process at `slot` has ended: it can be waited for, and its children become the first process's. Says whether
    /// any of those has ended.
    pub fn end(&mut self, slot: ProcessSlot) -> bool {
        let entry = &mut self.entries[slot.index()];
        (entry.has_ended, entry.change) = (true, None);
        let mut any_ended = false;
        while let Some(child) = some(self.entry(slot).first_child) {
            any_ended |= self.entry(child).has_ended;
            self.take_out(child);
            if self.first != NONE && self.first != slot.0 {
                self.put_last(ProcessSlot(self.first), child);
            }
        }
        any_ended
    }

    /// This happened to the living process at `slot`: its parent can be told, and not any more what happened before.
    pub fn change(&mut self, slot: ProcessSlot, change: Change) {
        debug_assert!(!self.entry(slot).has_ended, "an ended process changes no more");
        self.entries[slot.index()].change = Some(change);
    }

    /// The parent of the process at `slot` has been told.
    pub fn told(&mut self, slot: ProcessSlot) {
        self.entries[slot.index()].change = None;
    }

    /// What a wait by the process at `parent` finds: the eldest of the children meant of which there is something to
    /// tell.
    pub fn look(&self, parent: ProcessSlot, which: Which, interest: Interest) -> Found {
        let mut found = Found::NoChild;
        for child in self.children(parent).filter(|&child| self.entry(child).is(which)) {
            let Entry { has_ended, change, .. } = *self.entry(child);
            if has_ended && interest.ended {
                return Found::Ended(child);
            }
            if let Some(change) = change.filter(|&change| interest.has(change)) {
                return Found::Changed(child, change);
            }
            found = Found::Living;
        }
        found
    }

    /// Takes out a process that has no children: it was reaped, or never began to run.
    pub fn remove(&mut self, slot: ProcessSlot) {
        debug_assert_eq!(self.entry(slot).first_child, NONE, "children without a parent");
        self.take_out(slot);
        let Entry { pid, next_in_bucket, .. } = *self.entry(slot);
        let before = core::iter::successors(some(self.buckets[bucket(pid)]), |&place| {
            some(self.entry(place).next_in_bucket)
        })
        .find(|&place| self.entry(place).next_in_bucket == slot.0);
        match before {
            Some(before) => self.entries[before.index()].next_in_bucket = next_in_bucket,
            None => self.buckets[bucket(pid)] = next_in_bucket,
        }
        self.entries[slot.index()] = Entry::NOBODY;
        self.count -= 1;
    }

    fn entry(&self, slot: ProcessSlot) -> &Entry {
        &self.entries[slot.index()]
    }

    /// Makes `child`, which has no parent, the youngest child of `parent`.
    fn put_last(&mut self, parent: ProcessSlot, child: ProcessSlot) {
        let last = core::mem::replace(&mut self.entries[parent.index()].last_child, child.0);
        match some(last) {
            Some(last) => self.entries[last.index()].next_sibling = child.0,
            None => self.entries[parent.index()].first_child = child.0,
        }
        let entry = &mut self.entries[child.index()];
        (entry.parent, entry.previous_sibling, entry.next_sibling) = (parent.0, last, NONE);
    }

    /// Takes `child` from its parent, if it has one.
    fn take_out(&mut self, child: ProcessSlot) {
        let Entry { parent, previous_sibling: previous, next_sibling: next, .. } = *self.entry(child);
        let Some(parent) = some(parent) else { return };
        match some(previous) {
            Some(previous) => self.entries[previous.index()].next_sibling = next,
            None => self.entries[parent.index()].first_child = next,
        }
        match some(next) {
            Some(next) => self.entries[next.index()].previous_sibling = previous,
            None => self.entries[parent.index()].last_child = previous,
        }
        self.entries[child.index()].parent = NONE;
    }
}

impl Default for Family {
    fn default() -> Family {
        Family::new()
    }
}

fn some(place: u32) -> Option<ProcessSlot> {
    (place != NONE).then_some(ProcessSlot(place))
}

const fn bucket(pid: u32) -> usize {
    pid as usize % BUCKETS
}
