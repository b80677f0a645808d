//! The dispatcher: which LWP runs, and how one gives way to the next.
//!
//! **Problem.** LWPs block, are woken from any CPU, yield and end; no wake-up may be lost, no LWP may run on two CPUs or
//! on a stack that another still uses, and nothing may fall between two entries of the ledger.
//!
//! **One lock per CPU**, the dispatcher's, guards that CPU's run queue and the [`Place`] of every LWP whose `cpu` it
//! is. The lock is held *across* the switch: the LWP that gives way takes it, the one that goes on releases it
//! ([`finish_switch`]). So nobody can see an LWP as blocked or queued while its stack is still in use.
//!
//! **Block and wake are one protocol.** A blocker first puts itself where a waker finds it, then calls [`block`]. A
//! waker calls [`wake`], which takes the lock of the LWP's CPU: if the LWP is blocked it is queued; if it is still on its
//! way to block, the wake-up is remembered and `block` returns at once. Both look under the same lock, so there is no
//! moment between. A block may therefore return without cause; whoever waits looks at what it waits for again.
//!
//! **Interrupts are off** in all of this; a switch needs the dispatcher's lock and no other.
//! **Tried and refused:** a flag "is on a CPU" that wakers spin on; the handed-over lock makes it needless.

mod dispatch;
mod idle;
mod timer;

pub(crate) use dispatch::{attend, block, end_current, first_return, notice, start, wake, yield_now};
pub(crate) use idle::idle_for_ever;
pub(crate) use timer::{Alarm, reserve_alarms, set_tick, sleep_until, timer_interrupt};

use crate::proc::table::LwpLinks;
use kcore::sched::{Priority, RunQueue, Slot};

/// The priority of all LWPs, until there are others.
const PRIORITY: Priority = Priority::new(0);

/// The LWPs that wait for one CPU.
pub(crate) struct Dispatcher {
    queue: RunQueue,
}

impl Dispatcher {
    pub(crate) const fn new() -> Self {
        Dispatcher { queue: RunQueue::new() }
    }

    fn push(&mut self, slot: Slot) {
        self.queue.push_back(&LwpLinks, slot, PRIORITY);
    }

    fn pop(&mut self) -> Option<Slot> {
        self.queue.pop(&LwpLinks)
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
