//! Processes: an address space, descriptors and a ledger, shared by LWPs.
//!
//! **Life.** A process lies in a slot that is used again, like an LWP: a reference to it is valid for ever, and its pid
//! tells whether it still is the one that was meant. Its LWPs may rely on it without a look. Others find it under the
//! family's lock ([`super::family`]), under which alone a process is made findable and reaped.

use super::lwp::Lwp;
use super::machine;
use super::signals::SignalActions;
use super::stop::Stop;
use crate::acct::{self, Counts};
use crate::fs::Descriptors;
use crate::fs::root::RootFile;
use crate::mm::{AddressSpace, Shared};
use crate::sched;
use crate::sync::{Lock, Rank};
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicU32, Ordering};
use kcore::acct::{LwpState, OffCpu, ProcessLedger, Usage};
use kcore::process::ProcessSlot;
use syscalls::Errno;

/// How a process ended, or will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By `exit`, with this status.
    Exit(u8),
    /// By a signal's default action.
    Signal(u8),
}

/// What a process begins with.
pub(super) struct Beginning {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) uid: u32,
    pub(super) program: RootFile,
    pub(super) space: Shared<AddressSpace>,
    pub(super) descriptors: Descriptors,
    pub(super) signal_actions: SignalActions,
}

/// One process, or a free slot. The fields are grouped by who may use them.
pub(crate) struct Process {
    // --- fixed for the slot ---
    /// The slot's number.
    pub(super) slot: ProcessSlot,

    // --- read by anyone ---
    /// The process id: the tid of its first LWP. 0: the slot is free.
    pid: AtomicU32,
    /// The parent's pid, 0 for the first process. Changes under the family's lock.
    pub(super) parent: AtomicU32,
    uid: AtomicU32,
    /// 0 while it lives; else how it ends: bit 31, and status or signal.
    ending: AtomicU32,
    /// LWPs that have not begun to end. The one that takes it to 0 gives the memory back.
    active: AtomicU32,

    // --- each with a lock of its own ---
    /// The open files.
    pub(crate) descriptors: Lock<Descriptors>,
    /// What it asked to happen on signals.
    pub(crate) signal_actions: Lock<SignalActions>,
    state: Lock<State>,

    // --- guarded by the family's lock ---
    /// The LWP that lent its memory to this process by `vfork`, and waits to have it back.
    pub(super) lender: Cell<Option<&'static Lwp>>,

    // --- its LWPs' own ---
    /// The memory that they see. Changes only while there is one LWP, or none.
    space: UnsafeCell<Option<Shared<AddressSpace>>>,
}

struct State {
    /// What it runs.
    program: Option<RootFile>,
    /// The LWPs that are not reclaimed.
    members: Vec<&'static Lwp>,
    /// The LWP that waits to be the only one, to run another program.
    alone: Option<&'static Lwp>,
    /// It is to stop, or has stopped.
    stop: Option<Stop>,
    /// Where the time of reclaimed LWPs and of children went.
    ledger: ProcessLedger,
    /// What else reclaimed LWPs, and children that were waited for with theirs, went through.
    counts: Counts,
    children_counts: Counts,
}

/// Who is left when an LWP was reclaimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Nobody.
    Nobody,
    /// Others, of which the last has stopped.
    Stopped,
    /// Others.
    Others,
}

/// What the LWPs of a process are about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lwps {
    /// How many there are.
    pub(crate) count: u32,
    /// How many of them run or wait for a CPU.
    pub(crate) ready: u32,
    /// The CPU that one of them used last; 0 if there is none.
    pub(crate) cpu: u32,
}

/// What a process leaves behind when it is reaped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remains {
    ledger: ProcessLedger,
    counts: Counts,
}

impl Remains {
    /// Its time, and that of the children it had waited for.
    pub(crate) fn used(&self) -> Usage {
        self.ledger.own([]) + self.ledger.children()
    }

    /// What else it and those children went through.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }
}

// SAFETY: every field is atomic or locked, or says above whose lock or whose turn guards it.
unsafe impl Sync for Process {}

const ENDS: u32 = 1 << 31;
const BY_SIGNAL: u32 = 1 << 30;

impl Process {
    /// A free slot.
    pub(super) fn free(slot: u32) -> Self {
        let state = State {
            program: None,
            members: Vec::new(),
            alone: None,
            stop: None,
            ledger: ProcessLedger::new(),
            counts: Counts::default(),
            children_counts: Counts::default(),
        };
        Process {
            slot: ProcessSlot::new(slot),
            pid: AtomicU32::new(0),
            parent: AtomicU32::new(0),
            uid: AtomicU32::new(0),
            ending: AtomicU32::new(0),
            active: AtomicU32::new(0),
            descriptors: Lock::new(Rank::Descriptors, Descriptors::new()),
            signal_actions: Lock::new(Rank::Signals, SignalActions::new()),
            state: Lock::new(Rank::Process, state),
            lender: Cell::new(None),
            space: UnsafeCell::new(None),
        }
    }

    /// Makes the slot a process, without LWPs.
    ///
    /// # Safety
    /// The slot is free, and the caller's alone.
    pub(super) unsafe fn begin(&self, beginning: Beginning) {
        self.ending.store(0, Ordering::Relaxed);
        self.active.store(0, Ordering::Relaxed);
        self.uid.store(beginning.uid, Ordering::Relaxed);
        self.parent.store(beginning.parent, Ordering::Relaxed);
        self.pid.store(beginning.pid, Ordering::Release);
        *self.descriptors.lock() = beginning.descriptors;
        *self.signal_actions.lock() = beginning.signal_actions;
        let mut state = self.state.lock();
        state.program = Some(beginning.program);
        state.stop = None;
        state.ledger = ProcessLedger::new();
        (state.counts, state.children_counts) = (Counts::default(), Counts::default());
        // SAFETY: the slot is the caller's alone.
        unsafe { *self.space.get() = Some(beginning.space) };
    }

    /// Gives up what only its LWPs used.
    ///
    /// # Safety
    /// The process has no LWP, and no CPU translates by its address space on its behalf.
    pub(super) unsafe fn let_go(&self) {
        // SAFETY: by the contract nobody uses it.
        drop(unsafe { (*self.space.get()).take() });
        self.signal_actions.lock().clear();
        self.state.lock().members = Vec::new();
    }

    /// Makes the slot free. Under the family's lock, or before the process could be found there.
    pub(super) fn end(&self) {
        self.pid.store(0, Ordering::Release);
    }

    /// The process id: the tid of its first LWP.
    #[inline]
    pub(crate) fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }

    /// The parent's pid, 0 for the first process.
    #[inline]
    pub(crate) fn parent(&self) -> u32 {
        self.parent.load(Ordering::Relaxed)
    }

    /// Its user.
    pub(crate) fn uid(&self) -> u32 {
        self.uid.load(Ordering::Relaxed)
    }

    /// Makes it another user's.
    pub(crate) fn set_uid(&self, uid: u32) {
        self.uid.store(uid, Ordering::Relaxed);
    }

    /// What it runs. Of a process that has begun.
    pub(crate) fn program(&self) -> RootFile {
        self.state.lock().program.expect("a process runs a program")
    }

    /// The memory that its LWPs see. For them, and for who switches to one of them.
    #[inline]
    pub(crate) fn space(&self) -> &Shared<AddressSpace> {
        // SAFETY: it is replaced by the only LWP, which holds no reference to the old one then, and taken when there is
        // no LWP any more.
        unsafe { (*self.space.get()).as_ref() }.expect("a process with LWPs has an address space")
    }

    /// Replaces the memory, and hands out the old one.
    ///
    /// # Safety
    /// The caller is the only LWP of this process, and keeps no reference to the old one.
    pub(super) unsafe fn replace_space(&self, space: Shared<AddressSpace>) -> Option<Shared<AddressSpace>> {
        // SAFETY: by the contract nobody else looks.
        unsafe { (*self.space.get()).replace(space) }
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

    /// Adds an LWP. EAGAIN where the process is ending or about to run another program, ENOMEM where the list cannot
    /// grow; nothing has changed then.
    pub(super) fn add(&self, lwp: &'static Lwp) -> Result<(), Errno> {
        let mut state = self.state.lock();
        if self.ending().is_some() || state.alone.is_some() {
            return Err(Errno::EAGAIN);
        }
        state.members.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        state.members.push(lwp);
        if let Some(stop) = &mut state.stop {
            stop.joined(lwp);
        }
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

    /// Takes an ended LWP out and books its time. Returns what that makes of the process.
    pub(super) fn reclaim(&self, lwp: &'static Lwp) -> Left {
        let mut state = self.state.lock();
        let at = state.members.iter().position(|member| core::ptr::eq(*member, lwp));
        state.members.swap_remove(at.expect("an ended LWP is its process's"));
        state.counts = state.counts + acct::lwp_counts(lwp);
        state.ledger.add_ended(machine::retire(lwp));
        if let Some(alone) = state.alone {
            sched::wake(alone);
        }
        let has_stopped = state.stop.as_mut().is_some_and(|stop| stop.noted(lwp));
        match has_stopped {
            _ if state.members.is_empty() => Left::Nobody,
            true => Left::Stopped,
            false => Left::Others,
        }
    }

    /// Ends all LWPs but `lwp`, the running one, and waits until they are reclaimed; from then on no other is added,
    /// until [`Process::set_program`]. EINTR: the process ends, or another LWP was first.
    pub(super) fn leave_alone(&self, lwp: &'static Lwp) -> Result<(), Errno> {
        {
            let mut state = self.state.lock();
            if state.alone.is_some() || self.ending().is_some() {
                return Err(Errno::EINTR);
            }
            state.alone = Some(lwp);
            for &other in state.members.iter().filter(|member| !core::ptr::eq(**member, lwp)) {
                other.kill();
                sched::notice(other);
            }
        }
        loop {
            {
                let mut state = self.state.lock();
                if lwp.is_killed() {
                    state.alone = None;
                    return Err(Errno::EINTR);
                }
                if state.members.len() == 1 {
                    return Ok(());
                }
            }
            sched::block();
        }
    }

    /// The process runs another program from now on, and may have more LWPs again.
    pub(super) fn set_program(&self, program: RootFile) {
        let mut state = self.state.lock();
        state.program = Some(program);
        state.alone = None;
    }

    /// Calls `each` for every LWP that is not reclaimed, under the process's lock.
    pub(crate) fn for_each_member(&self, each: impl FnMut(&'static Lwp)) {
        self.state.lock().members.iter().copied().for_each(each);
    }

    /// Calls `look` with the stop of this process, if it is to stop, and the members, under the process's lock.
    pub(super) fn with_stop<T>(&self, look: impl FnOnce(&mut Option<Stop>, &[&'static Lwp]) -> T) -> T {
        let state = &mut *self.state.lock();
        look(&mut state.stop, &state.members)
    }

    /// Whether all its LWPs have stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        self.with_stop(|stop, _| stop.is_some_and(|stop| stop.is_complete()))
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

    /// What its LWPs are about, each at a moment of its own.
    pub(crate) fn lwps(&self) -> Lwps {
        let state = self.state.lock();
        let is_ready =
            |lwp: &&&Lwp| matches!(lwp.ledger.state(), LwpState::OnCpu(_) | LwpState::Off(OffCpu::Runnable));
        Lwps {
            count: state.members.len() as u32,
            ready: state.members.iter().filter(is_ready).count() as u32,
            cpu: state.members.first().map_or(0, |lwp| lwp.cpu.load(Ordering::Relaxed)),
        }
    }

    /// What else all its LWPs went through.
    pub(crate) fn counts(&self) -> Counts {
        let state = self.state.lock();
        state.members.iter().fold(state.counts, |sum, lwp| sum + acct::lwp_counts(lwp))
    }

    /// What else the children that were waited for went through.
    pub(crate) fn children_counts(&self) -> Counts {
        self.state.lock().children_counts
    }

    /// What there is to know of it: of an ended process all, of a living one what it used itself up to now.
    pub(super) fn remains(&self) -> Remains {
        let counts = self.counts();
        let state = self.state.lock();
        if state.members.is_empty() {
            return Remains { ledger: state.ledger, counts: counts + state.children_counts };
        }
        let mut ledger = ProcessLedger::new();
        state.members.iter().for_each(|lwp| ledger.add_ended(acct::member_usage(lwp)));
        Remains { ledger, counts }
    }

    /// Takes over what a child that was waited for leaves behind.
    pub(super) fn add_child(&self, child: &Remains) {
        let mut state = self.state.lock();
        state.ledger.add_child(&child.ledger);
        state.children_counts = state.children_counts + child.counts;
    }
}
