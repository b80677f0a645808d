//! The ledger of one CPU.

use super::account::Account;
use super::sequence::Sequence;
use crate::sync::{AtomicU32, Ordering::Relaxed, const_fn};
use core::mem::offset_of;

/// What a CPU does. It is always in exactly one of these states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum CpuState {
    /// Runs an LWP in user mode.
    User = 0,
    /// Runs in the kernel on its LWP's behalf: system calls, traps, faults, the way to the next LWP.
    System = 1,
    /// Handles an interrupt, whomever it interrupted.
    Irq = 2,
    /// Has no LWP.
    Idle = 3,
}

impl CpuState {
    #[inline]
    const fn from_u32(value: u32) -> CpuState {
        match value {
            0 => CpuState::User,
            1 => CpuState::System,
            2 => CpuState::Irq,
            _ => CpuState::Idle,
        }
    }
}

/// A CPU's totals of one moment, in ticks. `user + system + irq + idle == up` (law 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTicks {
    /// LWPs in user mode.
    pub user: u64,
    /// The kernel on LWPs' behalf.
    pub system: u64,
    /// Interrupts.
    pub irq: u64,
    /// Nothing to run.
    pub idle: u64,
    /// Since the CPU came up.
    pub up: u64,
}

/// The ledger of one CPU: a cache line that only this CPU writes, with interrupts off, and that anyone reads.
#[derive(Debug)]
#[repr(align(64))]
pub struct CpuLedger {
    pub(super) sequence: Sequence,
    state: AtomicU32,
    /// By [`CpuState`]; that of the present state is open.
    accounts: [Account; 4],
    /// Open since the start.
    up: Account,
}

/// Where the words of a [`CpuLedger`] lie, in bytes from its beginning, for entry code that has to make a crossing
/// before it can call a function: what [`CpuLedger::enter_system`] and its kin do, between the same two numbers.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The sequence number: 64 bits, one up with a full barrier before the stamp, one up after all else.
    pub sequence: usize,
    /// The present state: 32 bits, a [`CpuState`].
    pub state: usize,
    /// The account of [`CpuState::User`], 64 bits. The account of the state that ends gets the stamp added, that of
    /// the state that begins gets it subtracted.
    pub user: usize,
    /// The account of [`CpuState::System`].
    pub system: usize,
    /// The account of [`CpuState::Irq`].
    pub irq: usize,
}

impl CpuLedger {
    /// See [`Layout`].
    pub const LAYOUT: Layout = Layout {
        sequence: offset_of!(CpuLedger, sequence),
        state: offset_of!(CpuLedger, state),
        user: Self::account_offset(CpuState::User),
        system: Self::account_offset(CpuState::System),
        irq: Self::account_offset(CpuState::Irq),
    };

    const fn account_offset(state: CpuState) -> usize {
        offset_of!(CpuLedger, accounts) + state as usize * size_of::<Account>()
    }

    const_fn! {
        /// The ledger of a CPU that has not come up; it reads all zero.
        #[must_use]
        pub fn new() -> CpuLedger {
            CpuLedger {
                sequence: Sequence::new(),
                state: AtomicU32::new(CpuState::Idle as u32),
                accounts: [Account::new(), Account::new(), Account::new(), Account::new()],
                up: Account::new(),
            }
        }
    }

    /// The CPU comes up: it is idle from this stamp on, which is returned. Once in a ledger's life.
    pub fn start(&self, clock: impl FnOnce() -> u64) -> u64 {
        debug_assert!(!self.sequence.ever_written(), "a CPU starts once");
        self.sequence.open();
        let now = clock();
        self.up.subtract(now);
        self.open_account(CpuState::Idle, now);
        self.sequence.close();
        now
    }

    /// user → system: the first thing on the way in from user mode. Returns the stamp.
    #[inline]
    pub fn enter_system(&self, clock: impl FnOnce() -> u64) -> u64 {
        self.cross(CpuState::User, CpuState::System, clock)
    }

    /// system → user: the last thing on the way out to user mode. Returns the stamp.
    #[inline]
    pub fn enter_user(&self, clock: impl FnOnce() -> u64) -> u64 {
        self.cross(CpuState::System, CpuState::User, clock)
    }

    /// An interrupt begins. Returns what it interrupted, for [`CpuLedger::leave_irq`].
    #[inline]
    #[must_use = "leaving the interrupt takes it"]
    pub fn enter_irq(&self, clock: impl FnOnce() -> u64) -> CpuState {
        let interrupted = self.state();
        self.cross(interrupted, CpuState::Irq, clock);
        interrupted
    }

    /// The interrupt is over, what it interrupted goes on.
    #[inline]
    pub fn leave_irq(&self, interrupted: CpuState, clock: impl FnOnce() -> u64) -> u64 {
        self.cross(CpuState::Irq, interrupted, clock)
    }

    /// The interrupt is over and the LWP that it interrupted is to give way: the rest of the way to the switch is
    /// that LWP's system time. Only where an LWP was interrupted, not the idle loop.
    #[inline]
    pub fn irq_to_system(&self, clock: impl FnOnce() -> u64) -> u64 {
        self.cross(CpuState::Irq, CpuState::System, clock)
    }

    /// What the CPU does; for itself, with interrupts off.
    #[inline]
    #[must_use]
    pub fn state(&self) -> CpuState {
        CpuState::from_u32(self.state.load(Relaxed))
    }

    #[inline]
    fn cross(&self, from: CpuState, to: CpuState, clock: impl FnOnce() -> u64) -> u64 {
        debug_assert_eq!(self.state(), from, "the CPU was not where it came from");
        self.sequence.open();
        let now = clock();
        self.account(from).add(now);
        self.open_account(to, now);
        self.sequence.close();
        now
    }

    /// Closes the account of the present state, which is `state`. Inside the writer's window, followed by
    /// `open_account`.
    #[inline]
    pub(super) fn close_account_of(&self, state: CpuState, now: u64) {
        debug_assert_eq!(self.state(), state, "the CPU was not where it came from");
        self.account(state).add(now);
    }

    /// Opens the account of `state`, which is the CPU's state from now on. Inside the writer's window.
    #[inline]
    pub(super) fn open_account(&self, state: CpuState, now: u64) {
        self.account(state).subtract(now);
        self.state.store(state as u32, Relaxed);
    }

    #[inline]
    pub(super) fn account(&self, state: CpuState) -> &Account {
        &self.accounts[state as usize]
    }

    /// The total of `state` at `now`. Inside a window.
    #[inline]
    pub(super) fn total(&self, state: CpuState, now: u64) -> u64 {
        let open = if self.state() == state { now } else { 0 };
        self.account(state).balance().wrapping_add(open)
    }

    /// All totals at `now`. Inside a window.
    pub(super) fn totals(&self, now: u64) -> CpuTicks {
        if !self.sequence.ever_written() {
            return CpuTicks::default();
        }
        CpuTicks {
            user: self.total(CpuState::User, now),
            system: self.total(CpuState::System, now),
            irq: self.total(CpuState::Irq, now),
            idle: self.total(CpuState::Idle, now),
            up: self.up.balance().wrapping_add(now),
        }
    }
}

impl Default for CpuLedger {
    fn default() -> CpuLedger {
        CpuLedger::new()
    }
}
