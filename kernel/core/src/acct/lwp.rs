//! The ledger of one LWP.

use super::account::Account;
use super::cpu::{CpuLedger, CpuState};
use super::sequence::Sequence;
use super::totals::Usage;
use crate::sync::{AtomicU32, Ordering::Relaxed, const_fn};

/// The states of an LWP that is on no CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum OffCpu {
    /// Waits for a CPU.
    Runnable = 0,
    /// Blocked.
    Sleeping = 1,
    /// Stopped by a signal.
    Stopped = 2,
    /// Lives no more; its figures stand still.
    Ended = 3,
}

/// Where an LWP is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LwpState {
    /// On the CPU of this number, in user mode, in the kernel or interrupted.
    OnCpu(u32),
    /// On none.
    Off(OffCpu),
}

impl LwpState {
    /// CPU numbers from here on stand for the states off the CPUs.
    const FIRST_OFF: u32 = u32::MAX - 3;

    #[inline]
    const fn to_u32(self) -> u32 {
        match self {
            LwpState::OnCpu(cpu) => cpu,
            LwpState::Off(state) => Self::FIRST_OFF + state as u32,
        }
    }

    #[inline]
    const fn from_u32(value: u32) -> LwpState {
        match value.wrapping_sub(Self::FIRST_OFF) {
            0 => LwpState::Off(OffCpu::Runnable),
            1 => LwpState::Off(OffCpu::Sleeping),
            2 => LwpState::Off(OffCpu::Stopped),
            3 => LwpState::Off(OffCpu::Ended),
            _ => LwpState::OnCpu(value),
        }
    }
}

/// An LWP's totals of one moment, in ticks. The first five sum to `lifetime` (law 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Microstates {
    /// In user mode.
    pub user: u64,
    /// In the kernel on its own behalf.
    pub system: u64,
    /// Waiting for a CPU, be it that another LWP has it or that an interrupt holds it up.
    pub runnable: u64,
    /// Blocked.
    pub sleeping: u64,
    /// Stopped.
    pub stopped: u64,
    /// From birth on, to the end if it has ended.
    pub lifetime: u64,
}

impl Microstates {
    /// The part that is charged.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        Usage { user: self.user, system: self.system }
    }
}

/// The ledger of one LWP: a cache line that the holder of the LWP's run-queue lock writes and that anyone reads.
///
/// Ledgers lie in memory that is never used for anything else, and are used for one LWP after another; `tid` tells
/// a reader whose figures it got.
#[derive(Debug)]
#[repr(align(64))]
pub struct LwpLedger {
    pub(super) sequence: Sequence,
    tid: AtomicU32,
    state: AtomicU32,
    user: Account,
    system: Account,
    /// By [`OffCpu`]; that of the present state is open.
    waits: [Account; 3],
    /// Open from birth to end.
    lifetime: Account,
}

impl LwpLedger {
    const_fn! {
        /// The ledger of no LWP.
        #[must_use]
        pub fn new() -> LwpLedger {
            LwpLedger {
                sequence: Sequence::new(),
                tid: AtomicU32::new(0),
                state: AtomicU32::new(LwpState::Off(OffCpu::Ended).to_u32()),
                user: Account::new(),
                system: Account::new(),
                waits: [Account::new(), Account::new(), Account::new()],
                lifetime: Account::new(),
            }
        }
    }

    /// An LWP is born into this ledger, at zero, in `state`; `tid` is not 0. Returns the stamp.
    /// The ledger was new or [retired](LwpLedger::retire).
    pub fn begin(&self, tid: u32, state: OffCpu, clock: impl FnOnce() -> u64) -> u64 {
        debug_assert_eq!(self.tid(), 0, "the ledger is another LWP's");
        debug_assert!(tid != 0 && state != OffCpu::Ended);
        self.sequence.open();
        let now = clock();
        self.tid.store(tid, Relaxed);
        self.lifetime.subtract(now);
        self.open_wait(state, now);
        self.sequence.close();
        now
    }

    /// The LWP has another id from now on. For the holder of its run-queue lock.
    pub fn rename(&self, tid: u32) {
        debug_assert!(tid != 0 && self.tid() != 0);
        self.sequence.open();
        self.tid.store(tid, Relaxed);
        self.sequence.close();
    }

    /// sleeping or stopped → runnable. Returns the stamp.
    #[inline]
    pub fn wake(&self, clock: impl FnOnce() -> u64) -> u64 {
        debug_assert!(matches!(self.state(), LwpState::Off(OffCpu::Sleeping | OffCpu::Stopped)));
        self.change(OffCpu::Runnable, clock)
    }

    /// From one state off the CPUs to another: a waiting LWP becomes runnable, or ends.
    /// Not from [`OffCpu::Ended`]. Returns the stamp.
    pub fn change(&self, next: OffCpu, clock: impl FnOnce() -> u64) -> u64 {
        self.sequence.open();
        let now = clock();
        self.close_wait(now);
        self.open_wait(next, now);
        self.sequence.close();
        now
    }

    /// Takes what an ended LWP used, to be added to its process and the machine, and clears the ledger for the next
    /// LWP. Where both happen under the lock that those hold who sum up the process, no sum misses or doubles it.
    #[must_use = "the machine's totals would fall"]
    pub fn retire(&self) -> Usage {
        debug_assert_eq!(self.state(), LwpState::Off(OffCpu::Ended), "a living LWP's ledger");
        let used = Usage { user: self.user.balance(), system: self.system.balance() };
        self.sequence.open();
        self.tid.store(0, Relaxed);
        for account in [&self.user, &self.system, &self.lifetime].into_iter().chain(&self.waits) {
            account.clear();
        }
        self.sequence.close();
        used
    }

    /// Where the LWP is; for the holder of its run-queue lock.
    #[inline]
    #[must_use]
    pub fn state(&self) -> LwpState {
        LwpState::from_u32(self.state.load(Relaxed))
    }

    /// Whose ledger it is, 0: nobody's.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        self.tid.load(Relaxed)
    }

    /// The LWP gets `cpu`, all of whose accounts are closed. Inside both writers' windows.
    #[inline]
    pub(super) fn dock(&self, cpu: &CpuLedger, cpu_id: u32, now: u64) {
        debug_assert_eq!(self.state(), LwpState::Off(OffCpu::Runnable), "dispatched, but not runnable");
        debug_assert!(cpu_id < LwpState::FIRST_OFF);
        self.wait(OffCpu::Runnable).add(now);
        self.user.subtract(cpu.account(CpuState::User).balance());
        self.system.subtract(cpu.account(CpuState::System).balance());
        self.wait(OffCpu::Runnable).subtract(cpu.account(CpuState::Irq).balance());
        self.state.store(LwpState::OnCpu(cpu_id).to_u32(), Relaxed);
    }

    /// The LWP gives up `cpu`, all of whose accounts are closed. Inside both writers' windows.
    #[inline]
    pub(super) fn undock(&self, cpu: &CpuLedger, next: OffCpu, now: u64) {
        self.user.add(cpu.account(CpuState::User).balance());
        self.system.add(cpu.account(CpuState::System).balance());
        self.wait(OffCpu::Runnable).add(cpu.account(CpuState::Irq).balance());
        self.open_wait(next, now);
    }

    /// What a docked LWP has used, given the totals of its CPU. For its own CPU, with interrupts off.
    #[inline]
    pub(super) fn docked(&self, cpu_user: u64, cpu_system: u64) -> Usage {
        Usage {
            user: self.user.balance().wrapping_add(cpu_user),
            system: self.system.balance().wrapping_add(cpu_system),
        }
    }

    /// The balances as they are. Inside a window.
    #[inline]
    pub(super) fn balances(&self) -> Microstates {
        Microstates {
            user: self.user.balance(),
            system: self.system.balance(),
            runnable: self.wait(OffCpu::Runnable).balance(),
            sleeping: self.wait(OffCpu::Sleeping).balance(),
            stopped: self.wait(OffCpu::Stopped).balance(),
            lifetime: self.lifetime.balance(),
        }
    }

    /// Closes the account of the present state off the CPUs.
    #[inline]
    fn close_wait(&self, now: u64) {
        match self.state() {
            LwpState::Off(OffCpu::Ended) => debug_assert!(false, "an ended LWP ends once"),
            LwpState::Off(state) => self.wait(state).add(now),
            LwpState::OnCpu(_) => debug_assert!(false, "an LWP leaves its CPU by a switch"),
        }
    }

    /// Opens the account of `state`; at the end there is none to open, but the lifetime to close.
    #[inline]
    fn open_wait(&self, state: OffCpu, now: u64) {
        match state {
            OffCpu::Ended => self.lifetime.add(now),
            waiting => self.wait(waiting).subtract(now),
        }
        self.state.store(LwpState::Off(state).to_u32(), Relaxed);
    }

    #[inline]
    fn wait(&self, state: OffCpu) -> &Account {
        &self.waits[state as usize]
    }
}

impl Default for LwpLedger {
    fn default() -> LwpLedger {
        LwpLedger::new()
    }
}
