//! The dispatcher: which LWP runs where, and how one gives way to the next.
//!
//! **Problem.** LWPs block, are woken from any CPU, yield, move and end; no wake-up may be lost, no LWP may run on two
//! CPUs or on a stack that another still uses, and nothing may fall between two entries of the ledger.
//!
//! **One lock per CPU**, the dispatcher's, guards that CPU's run queue and the [`Standing`](kcore::sched::place::Standing) of every LWP whose `cpu` it
//! is. The lock is held *across* the switch: the LWP that gives way takes it, the one that goes on releases it
//! (`finish_switch`). So nobody can see an LWP as blocked or queued while its stack is still in use. An LWP that is to
//! wait on another CPU is queued there by whoever comes after it on this one, when its stack is free.
//!
//! **Block and wake are one protocol**, that of [`kcore::sched::place`]: [`block`] and [`wake`] ask it under the lock of
//! the LWP's CPU, and do what it says. A blocker first puts itself where a waker finds it. A block may return without
//! cause; whoever waits looks at what it waits for again.
//!
//! **Priorities.** Better nice values go first, at once; LWPs that mostly sleep go before those of their nice value
//! (`kcore::sched::credit`); and one that was kept out for long has a turn (`kcore::sched::Turns`). On several CPUs a woken
//! LWP goes where the lowest priority runs; LWPs that wait are not moved because another CPU runs a lower one.
//!
//! **Partitions** keep processor sets apart ([`Partition`]): an LWP waits and runs on CPUs of its own only, and no CPU takes
//! from another partition's.
//!
//! **Moving.** An LWP's `cpu` changes under the lock of the old CPU; whoever locks the new one's afterwards finds it
//! queued there, or about to be: a wake-up is kept, a removal finds nothing to remove. Two dispatchers' locks are
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
mod partition;
mod priority;
mod ready;
mod timer;

pub(crate) use affinity::{clear_cpu, is_on_wrong_cpu, leave_wrong_cpu, offer};
pub(crate) use dispatch::{attend, block, end_current, first_return, pause_long_call, yield_now};
pub(crate) use idle::{idle_for_ever, idle_on_own_stack};
pub(crate) use partition::{
    DEFAULT, Partition, averages_of, inherit, move_cpu, move_lwp, partition, set_pace,
};
pub(crate) use priority::set_nice;
pub(crate) use ready::{kicked, notice, start, wake};
pub(crate) use timer::{
    block_until, reserve_alarms, reserve_alarms_on, set_tick, sleep_until, timer_interrupt,
};

use crate::cpu::{self, Cpu};
use crate::proc::{Lwp, table::LwpLinks};
use crate::time;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use kcore::loadavg::Part;
use kcore::sched::{AfterSlice, Priority, RunQueue, Turns};

/// So long do LWPs wait behind those of better priority, before one of them has a turn.
const PATIENCE_SLICES: u64 = 50;

/// The CPUs that have announced that they are idle and were not given anything since.
static IDLE: AtomicU64 = AtomicU64::new(0);

/// The LWPs that wait for one CPU. Its CPU counts them where others can see.
pub(crate) struct Dispatcher {
    queue: RunQueue,
    turns: Turns,
    /// The partition that the CPU is in. Changes under the lock of processor sets too.
    partition: &'static Partition,
    /// The load of that partition that came and went here.
    load: Part,
}

impl Dispatcher {
    pub(crate) const fn new() -> Self {
        Dispatcher { queue: RunQueue::new(), turns: Turns::new(), partition: DEFAULT, load: Part::new() }
    }

    fn push(&mut self, cpu: &Cpu, lwp: &Lwp) {
        self.queue.push_back(&LwpLinks, lwp.slot, lwp.priority());
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
        let slot = self.queue.exchange(&LwpLinks, lwp.slot, lwp.priority())?;
        Some(crate::proc::table::lwp(slot))
    }

    /// Whether somebody waits below `running` who is to have a turn.
    fn turn_is_due(&mut self, running: Priority, now: u64) -> bool {
        self.turns.is_due(running, &self.queue, now, PATIENCE_SLICES * time::slice_ticks())
    }

    /// What to do now that the slice of the LWP that runs at `running` is over.
    fn after_slice(&mut self, running: Priority, now: u64) -> AfterSlice {
        self.turns.after_slice(running, &self.queue, now, PATIENCE_SLICES * time::slice_ticks())
    }

    /// Takes an LWP out, if it is in.
    fn remove(&mut self, cpu: &Cpu, lwp: &Lwp) -> bool {
        let removed = self.queue.remove(&LwpLinks, lwp.slot);
        if removed {
            cpu.waiting.fetch_sub(1, SeqCst);
        }
        removed
    }

    /// The first LWP that may not run on `cpu`, whose queue this is, taken out.
    fn take_unfit(&mut self, cpu: &Cpu) -> Option<&'static Lwp> {
        let is_unfit = |lwp: &&'static Lwp| !lwp.allowed().has(cpu.number());
        let lwp = self.queue.iter(&LwpLinks).map(crate::proc::table::lwp).find(is_unfit)?;
        self.remove(cpu, lwp);
        Some(lwp)
    }

    /// The first LWP that may run on CPU `number`, taken out.
    fn take_for(&mut self, cpu: &Cpu, number: u32) -> Option<&'static Lwp> {
        let fits = |lwp: &&'static Lwp| lwp.allowed().has(number);
        let lwp = self.queue.iter(&LwpLinks).map(crate::proc::table::lwp).find(fits)?;
        self.remove(cpu, lwp);
        Some(lwp)
    }
}

/// At which priority a CPU runs.
fn priority_on(number: u32) -> Priority {
    cpu::get(number).map_or(Priority::TURN, |cpu| Priority::new(cpu.priority.load(SeqCst)))
}

fn waiting_on(number: u32) -> u32 {
    cpu::get(number).map_or(0, |cpu| cpu.waiting.load(SeqCst))
}

/// Who runs and waits on a CPU.
fn load_of(number: u32) -> u32 {
    cpu::get(number).map_or(u32::MAX, |cpu| cpu.waiting.load(SeqCst) + u32::from(cpu.busy.load(SeqCst)))
}
