//! What each CPU went through, counted for tools.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that one CPU alone raises, with interrupts off, and anyone reads.
pub(crate) struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Counter(AtomicU64::new(0))
    }

    /// One more; for its own CPU.
    #[inline(always)]
    pub(crate) fn add(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed); // one instruction, and no lock
    }

    /// How many.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counts of one CPU.
        pub(crate) struct Counters { $($(#[$doc])* pub(crate) $name: Counter,)* }

        impl Counters {
            pub(super) const fn new() -> Self {
                Counters { $($name: Counter::new(),)* }
            }
        }
    };
}

counters! {
    /// System calls; the entry code counts them.
    system_calls,
    /// Page faults that were resolved or ended their LWP.
    faults,
    /// Interrupts, kicks included.
    interrupts,
    /// Requests to other CPUs.
    cross_calls,
    /// Switches away from an LWP, and those of them that it was made to.
    switches,
    involuntary,
    /// LWPs that it sent to another CPU, or took from one.
    migrations,
    /// Turns of waiting for a lock.
    spins,
}
