//! The dispatcher: which LWP runs where, and how one gives way to the next.
//!
//! **Problem.** LWPs block, are woken from any CPU, yield, move and end; no wake-up may be lost, no LWP may run on two
//! CPUs or on a stack that another still uses, and nothing may fall between two entries of the ledger.
//!
//! **One lock per CPU**, the dispatcher's, guards that CPU's run queue and the [`Place`](crate::proc::Place) of every LWP whose `cpu` it
//! is. The lock is held *across* the switch: the LWP that gives way takes it, the one that goes on releases it
//! (`finish_switch`). So nobody can see an LWP as blocked or queued while its stack is still in use. An LWP that is to
//! wait on another CPU is queued there by whoever comes after it on this one, when its stack is free.
//!
//! **Block and wake are one protocol.** A blocker first puts itself where a waker finds it, then calls [`block`]. A
//! waker calls [`wake`], which takes the lock of the LWP's CPU: if the LWP is blocked it is queued; if it is still on its
//! way to block, the wake-up is remembered and `block` returns at once. Both look under the same lock, so there is no
//! moment between. A block may therefore return without cause; whoever waits looks at what it waits for again.
//!
//! **Moving.** An LWP's `cpu` changes under the lock of the old CPU; whoever locks the new one's afterwards finds it
//! queued there, or about to be: a wake-up is remembered, a removal finds nothing to remove. Two dispatchers' locks are
//! never held together.
//!
//! **No CPU idles while an LWP waits.** A CPU announces that it is idle, *then* looks for work everywhere, then sleeps;
//! whoever queues an LWP counts it, *then* looks who is idle. One of the two sees the other (both orders are
//! sequentially consistent).
//!
//! **Interrupts are off** in all of this; a switch needs the dispatcher's lock and no other.
//! **Tried and refused:** a flag "is on a CPU" that wakers spin on; the handed-over lock makes it needless.

mod affinity;
mod dispatch;
mod idle;
mod timer;

pub(crate) use affinity::set_allowed;
pub(crate) use dispatch::{
    attend, block, end_current, first_return, kicked, notice, pause_long_call, start, wake, yield_now,
};
pub(crate) use idle::{idle_for_ever, idle_on_own_stack};
pub(crate) use timer::{
    block_until, reserve_alarms, reserve_alarms_on, set_tick, sleep_until, timer_interrupt,
};

use crate::cpu::{self, Cpu};
use crate::proc::{Lwp, table::LwpLinks};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use kcore::sched::balance::CpuSet;
use kcore::sched::{Priority, RunQueue};

/// The priority of all LWPs, until there are others; those with credit wait one above.
const PRIORITY: u8 = 0;

/// The CPUs that have announced that they are idle and were not given anything since.
static IDLE: AtomicU64 = AtomicU64::new(0);

/// The LWPs that wait for one CPU. Its CPU counts them where others can see.
pub(crate) struct Dispatcher {
    queue: RunQueue,
}

impl Dispatcher {
    pub(crate) const fn new() -> Self {
        Dispatcher { queue: RunQueue::new() }
    }

    fn push(&mut self, cpu: &Cpu, lwp: &Lwp) {
        self.queue.push_back(&LwpLinks, lwp.slot, Priority::new(priority_of(lwp)));
        cpu.waiting.fetch_add(1, SeqCst);
    }

    fn pop(&mut self, cpu: &Cpu) -> Option<&'static Lwp> {
        let slot = self.queue.pop(&LwpLinks)?;
        cpu.waiting.fetch_sub(1, SeqCst);
        Some(crate::proc::table::lwp(slot))
    }

    /// Queues `lwp` behind the others and takes out who is first, if anybody waits: as many wait as before.
    #[inline]
    fn exchange(&mut self, lwp: &Lwp) -> Option<&'static Lwp> {
        let slot = self.queue.exchange(&LwpLinks, lwp.slot, Priority::new(priority_of(lwp)))?;
        Some(crate::proc::table::lwp(slot))
    }

    /// Takes an LWP out, if it is in.
    fn remove(&mut self, cpu: &Cpu, lwp: &Lwp) -> bool {
        let removed = self.queue.remove(&LwpLinks, lwp.slot);
        if removed {
            cpu.waiting.fetch_sub(1, SeqCst);
        }
        removed
    }

    /// The first LWP that may run on CPU `number`, taken out.
    fn take_for(&mut self, cpu: &Cpu, number: u32) -> Option<&'static Lwp> {
        let fits = |lwp: &&'static Lwp| lwp.allowed().has(number);
        let lwp = self.queue.iter(&LwpLinks).map(crate::proc::table::lwp).find(fits)?;
        self.remove(cpu, lwp);
        Some(lwp)
    }
}

/// At which priority an LWP waits and runs now. With the lock of its CPU's dispatcher.
fn priority_of(lwp: &Lwp) -> u8 {
    PRIORITY + u8::from(lwp.credit.get().is_there())
}

/// All CPUs that are up.
fn all_cpus() -> CpuSet {
    CpuSet::first(cpu::count())
}

fn waiting_on(number: u32) -> u32 {
    cpu::get(number).map_or(0, |cpu| cpu.waiting.load(SeqCst))
}

/// Who runs and waits on a CPU.
fn load_of(number: u32) -> u32 {
    cpu::get(number).map_or(u32::MAX, |cpu| cpu.waiting.load(SeqCst) + u32::from(cpu.busy.load(SeqCst)))
}
