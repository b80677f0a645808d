//! What becomes of the time of those who have ended.
//!
//! Plain values, for the owner of the lock around them. Sums saturate: one that reaches 2^64 ticks (97 CPU-years at
//! 6 GHz) stands still, for no total may ever fall.

/// Time on CPUs, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// In user mode.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
}

impl Usage {
    /// Both parts together.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.user.saturating_add(self.system)
    }
}

impl core::ops::Add for Usage {
    type Output = Usage;

    #[inline]
    fn add(self, other: Usage) -> Usage {
        Usage { user: self.user.saturating_add(other.user), system: self.system.saturating_add(other.system) }
    }
}

impl core::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(parts: I) -> Usage {
        parts.fold(Usage::default(), |sum, part| sum + part)
    }
}

/// What a process keeps besides its LWPs' ledgers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessLedger {
    ended: Usage,
    children: Usage,
}

impl ProcessLedger {
    /// A process that has used nothing.
    #[must_use]
    pub const fn new() -> ProcessLedger {
        let nothing = Usage { user: 0, system: 0 };
        ProcessLedger { ended: nothing, children: nothing }
    }

    /// Takes over what a [retired](super::LwpLedger::retire) LWP used.
    pub fn add_ended(&mut self, used: Usage) {
        self.ended = self.ended + used;
    }

    /// Takes over a child that was waited for: its own time, and that of the children it had waited for. All of the
    /// child's LWPs have been retired. Once per child, at the wait that ends it.
    pub fn add_child(&mut self, child: &ProcessLedger) {
        self.children = self.children + child.ended + child.children;
    }

    /// The process's own time, given that of its LWPs whose ledgers are not retired.
    #[must_use]
    pub fn own(&self, lwps: impl IntoIterator<Item = Usage>) -> Usage {
        self.ended + lwps.into_iter().sum()
    }

    /// The time of all children that were waited for, and of theirs.
    #[must_use]
    pub const fn children(&self) -> Usage {
        self.children
    }
}

/// What the machine keeps of all LWPs that are no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineLedger {
    ended: Usage,
}

impl MachineLedger {
    /// A machine on which no LWP has ended.
    #[must_use]
    pub const fn new() -> MachineLedger {
        MachineLedger { ended: Usage { user: 0, system: 0 } }
    }

    /// Takes over what a [retired](super::LwpLedger::retire) LWP used.
    pub fn add_ended(&mut self, used: Usage) {
        self.ended = self.ended + used;
    }

    /// The time of all LWPs that ever lived, given that of those whose ledgers are not retired.
    #[must_use]
    pub fn lwps(&self, lwps: impl IntoIterator<Item = Usage>) -> Usage {
        self.ended + lwps.into_iter().sum()
    }
}
