//! What CPUs ask of each other, and the promise that the asked one answers soon.
//!
//! **Problem.** A CPU that changed a page table must know that no other CPU still uses the old entry before it lets go of
//! the frame; one that sums up the machine must know that no other CPU makes time pass meanwhile. So it has to wait for
//! the others, and they may be in the kernel with interrupts off, waiting for a lock that the asking CPU holds.
//! **Answer.** Whoever waits, for a lock or for an answer, serves requests while it waits ([`serve`] is what a
//! [`crate::sync::SpinMutex`] does instead of just spinning). Everyone else has interrupts on, or turns them on after a
//! short stretch, and is interrupted by the kick. So an answer comes in bounded time and there is no circle of waiters.
//!
//! **Forgetting translations.** Requests are numbered for the whole machine. The asking CPU draws a number after it has
//! changed the table, and raises `wanted` of each CPU that it asks to that; the asked CPU reads `wanted`, then forgets, then
//! copies it to `done`. Numbers are drawn in the order of the changes that precede them, so whoever has served a later
//! number has served this one. A CPU announces the table that it uses before it loads it, so one that is not asked loads
//! the table after the change, and has nothing old.

use super::{Cpu, Here};
use crate::arch;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use kcore::sched::balance::CpuSet;

/// How many requests to forget translations there were.
static FLUSHES: AtomicU64 = AtomicU64::new(0);

/// Requests to one CPU.
pub(crate) struct Requests {
    /// The last request to forget translations that it was asked, and the last that it has served.
    flush_wanted: AtomicU64,
    flush_done: AtomicU64,
    /// It is to stand still, and does.
    hold_wanted: AtomicBool,
    held: AtomicBool,
}

impl Requests {
    pub(super) const fn new() -> Self {
        Requests {
            flush_wanted: AtomicU64::new(0),
            flush_done: AtomicU64::new(0),
            hold_wanted: AtomicBool::new(false),
            held: AtomicBool::new(false),
        }
    }
}

/// Does what this CPU was asked to do by others.
pub(crate) fn serve() {
    let here = Here::get();
    let requests = &here.requests;
    let wanted = requests.flush_wanted.load(SeqCst);
    if wanted != requests.flush_done.load(SeqCst) {
        arch::flush_translations();
        requests.flush_done.store(wanted, SeqCst);
    }
    if requests.hold_wanted.load(SeqCst) {
        requests.held.store(true, SeqCst);
        while requests.hold_wanted.load(SeqCst) {
            core::hint::spin_loop();
        }
        requests.held.store(false, SeqCst);
    }
}

/// Makes every other CPU that translates by the table at `root` (None: by any) forget its translations; on return they
/// have. The table has been changed before.
pub(crate) fn flush_others(root: Option<u64>) {
    let here = Here::get();
    let asked = |cpu: &&'static Cpu| {
        cpu.number() != here.number() && root.is_none_or(|root| cpu.root.load(SeqCst) == root)
    };
    // Also a fence: the change of the table is seen by whoever is not asked.
    let number = FLUSHES.fetch_add(1, SeqCst) + 1;
    let mut waiting = CpuSet(0);
    for cpu in super::all().filter(asked) {
        cpu.requests.flush_wanted.fetch_max(number, SeqCst);
        cpu.kick();
        waiting = waiting.with(cpu.number());
    }
    while let Some(cpu) = waiting.lowest().and_then(super::get) {
        while cpu.requests.flush_done.load(SeqCst) < number {
            serve();
            core::hint::spin_loop();
        }
        waiting = waiting.without(cpu.number());
    }
}

/// Only one CPU may hold the others.
static HOLDING: AtomicBool = AtomicBool::new(false);

/// Does `work` while every other CPU stands still, in an interrupt or in a wait for a lock: nobody's user or system
/// time passes but the caller's. The caller holds no lock.
pub(crate) fn hold_all<T>(work: impl FnOnce() -> T) -> T {
    let here = Here::get();
    here.held.assert_none("holding all CPUs");
    while HOLDING.swap(true, SeqCst) {
        serve();
        core::hint::spin_loop();
    }
    let others = || super::all().filter(|cpu| cpu.number() != here.number());
    others().for_each(|cpu| {
        cpu.requests.hold_wanted.store(true, SeqCst);
        cpu.kick();
    });
    for cpu in others() {
        while !cpu.requests.held.load(SeqCst) {
            core::hint::spin_loop();
        }
    }
    let result = work();
    others().for_each(|cpu| cpu.requests.hold_wanted.store(false, SeqCst));
    // Nobody is asked again before it has seen that it may go on.
    for cpu in others() {
        while cpu.requests.held.load(SeqCst) {
            core::hint::spin_loop();
        }
    }
    HOLDING.store(false, SeqCst);
    result
}
