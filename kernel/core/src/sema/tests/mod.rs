//! Semaphores against a plain model, and their laws.

#[cfg(feature = "loom")]
mod loom;
#[cfg(not(feature = "loom"))]
mod model;
#[cfg(not(feature = "loom"))]
mod units;

use super::{Head, Memory, Waiter, Waiters};
use crate::clock::{NANOSECONDS, Rate};
use crate::list::Slot;

/// A clock whose ticks are nanoseconds.
fn rate() -> Rate {
    Rate::new(NANOSECONDS).unwrap()
}

/// The memory of an arena of so many lines.
struct Lines(Vec<Head>);

impl Lines {
    fn new(count: u32) -> Lines {
        Lines((0..count).map(|_| Head::new()).collect())
    }
}

impl Memory for Lines {
    fn head(&self, line: u32) -> &Head {
        &self.0[line as usize]
    }
}

/// What the LWPs keep.
struct Lwps(Vec<Waiter>);

impl Lwps {
    fn new(count: u32) -> Lwps {
        Lwps((0..count).map(|_| Waiter::new()).collect())
    }
}

impl Waiters for Lwps {
    fn waiter(&self, slot: Slot) -> &Waiter {
        &self.0[slot.index()]
    }
}
