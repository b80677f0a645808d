//! Processes: an address space, descriptors and a ledger, shared by LWPs.

use super::lwp::Lwp;
use super::signals::SignalActions;
use crate::fs::Descriptors;
use crate::mm::AddressSpace;
use crate::sync::{Lock, Rank};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};
use kcore::acct::ProcessLedger;
use syscalls::Errno;

/// How a process ended, or will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By `exit`, with this status.
    Exit(u8),
    /// By a signal's default action.
    Signal(u8),
}

/// One process. Lives from its making until it has been reaped; whoever holds a reference beyond that is its LWP or
/// holds the table's lock.
pub(crate) struct Process {
    /// The process id: the tid of its first LWP.
    pub(crate) pid: u32,
    /// The parent's process id, 0 for the first process.
    parent: AtomicU32,
    /// The program's name, for messages.
    pub(crate) name: Box<str>,
    /// The memory that its LWPs see. Locks inside.
    pub(crate) space: AddressSpace,
    /// The open files.
    pub(crate) descriptors: Lock<Descriptors>,
    /// Its user.
    uid: AtomicU32,
    /// What it asked to happen on signals.
    pub(crate) signal_actions: Lock<SignalActions>,
    /// 0 while it lives; else how it ends: bit 31, and status or signal.
    ending: AtomicU32,
    /// LWPs that have not begun to end. The one that takes it to 0 gives the memory back.
    active: AtomicU32,
    state: Lock<State>,
}

struct State {
    /// The LWPs that are not reclaimed.
    members: Vec<&'static Lwp>,
    /// Where the time of reclaimed LWPs and of children went.
    ledger: ProcessLedger,
}

const ENDS: u32 = 1 << 31;
const BY_SIGNAL: u32 = 1 << 30;

impl Process {
    pub(super) fn new(pid: u32, parent: u32, name: Box<str>, space: AddressSpace) -> Result<Self, Errno> {
        Ok(Process {
            pid,
            parent: AtomicU32::new(parent),
            name,
            space,
            descriptors: Lock::new(Rank::Descriptors, Descriptors::console()?),
            uid: AtomicU32::new(0),
            signal_actions: Lock::new(Rank::Signals, SignalActions::new()),
            ending: AtomicU32::new(0),
            active: AtomicU32::new(0),
            state: Lock::new(Rank::Process, State { members: Vec::new(), ledger: ProcessLedger::new() }),
        })
    }

    /// The parent's process id, 0 for the first process.
    #[inline]
    pub(crate) fn parent(&self) -> u32 {
        self.parent.load(Ordering::Relaxed)
    }

    /// Its user.
    pub(crate) fn uid(&self) -> u32 {
        self.uid.load(Ordering::Relaxed)
    }

    /// How it ends, once that is decided.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let value = self.ending.load(Ordering::Acquire);
        match value & ENDS {
            0 => None,
            _ if value & BY_SIGNAL != 0 => Some(Ending::Signal(value as u8)),
            _ => Some(Ending::Exit(value as u8)),
        }
    }

    /// Decides how the process ends, unless that is decided already. Returns whether this call decided it.
    pub(super) fn decide_ending(&self, ending: Ending) -> bool {
        let value = match ending {
            Ending::Exit(status) => ENDS | u32::from(status),
            Ending::Signal(signal) => ENDS | BY_SIGNAL | u32::from(signal),
        };
        self.ending.compare_exchange(0, value, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Adds an LWP. EAGAIN where the process is ending, ENOMEM where the list cannot grow; nothing has changed then.
    pub(super) fn add(&self, lwp: &'static Lwp) -> Result<(), Errno> {
        let mut state = self.state.lock();
        if self.ending().is_some() {
            return Err(Errno::EAGAIN);
        }
        state.members.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        state.members.push(lwp);
        self.active.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// An LWP begins to end. Returns whether it was the last active one.
    pub(super) fn leave(&self) -> bool {
        self.active.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether more than one LWP is active.
    pub(crate) fn is_multithreaded(&self) -> bool {
        self.active.load(Ordering::Relaxed) > 1
    }

    /// Takes an ended LWP out and books its time. Returns whether it was the last.
    pub(super) fn reclaim(&self, lwp: &'static Lwp) -> bool {
        let mut state = self.state.lock();
        let at = state.members.iter().position(|member| core::ptr::eq(*member, lwp));
        state.members.swap_remove(at.expect("an ended LWP is its process's"));
        let used = lwp.ledger.retire();
        state.ledger.add_ended(used);
        super::book_ended(used);
        state.members.is_empty()
    }

    /// Calls `each` for every LWP that is not reclaimed, under the process's lock.
    pub(crate) fn for_each_member(&self, each: impl FnMut(&'static Lwp)) {
        self.state.lock().members.iter().copied().for_each(each);
    }

    /// Whether `lwp` is, under this tid, an LWP of this process.
    pub(crate) fn has(&self, lwp: &'static Lwp, tid: u32) -> bool {
        let state = self.state.lock();
        lwp.tid() == tid && state.members.iter().any(|member| core::ptr::eq(*member, lwp))
    }

    /// Calls `look` with the ledger and the members, under the process's lock, so that no LWP is missed or doubled.
    pub(crate) fn with_ledger<T>(&self, look: impl FnOnce(&ProcessLedger, &[&'static Lwp]) -> T) -> T {
        let state = self.state.lock();
        look(&state.ledger, &state.members)
    }
}
