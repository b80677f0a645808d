//! Time-outs and slices: the local timer is set only where there is something to time.

use super::dispatch::block;
use super::ready::wake;
use crate::arch::{self, clock};
use crate::cpu::{self, Cpu, Here};
use crate::proc::{Lwp, table};
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use syscalls::Errno;

/// Ticks of the clock between two extra interrupts, which tests ask for; 0: none.
static TICK: AtomicU64 = AtomicU64::new(0);

/// Asks for `hz` extra timer interrupts a second on every CPU, 0 for none. Before the other CPUs are up.
pub(crate) fn set_tick(hz: u64) {
    TICK.store(crate::time::rate().hz().checked_div(hz).unwrap_or(0), Relaxed);
    arm(Here::get());
}

/// Makes room for the time-outs of all LWPs there are slots for, so that setting one never fails. ENOMEM.
pub(crate) fn reserve_alarms() -> Result<(), Errno> {
    cpu::all().try_for_each(reserve_alarms_on)
}

/// The same for one CPU.
pub(crate) fn reserve_alarms_on(cpu: &Cpu) -> Result<(), Errno> {
    let slots = table::slot_count();
    cpu.timers.lock().reserve(slots)
}

/// A time-out of the running LWP: wakes it at the deadline unless dropped before.
struct Alarm {
    lwp: &'static Lwp,
    /// Whose timer goes off.
    cpu: &'static Cpu,
}

impl Alarm {
    /// Wakes the running LWP when the clock reaches `deadline`. One at a time.
    fn set(deadline: u64) -> Self {
        let here = Here::get();
        let lwp = here.lwp();
        here.timers.lock().insert(deadline, lwp.slot);
        arm(here);
        Alarm { lwp, cpu: here.cpu() }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.cpu.timers.lock().remove(self.lwp.slot); // nothing to remove where it has gone off
    }
}

/// Blocks until the clock reaches `deadline`; returns before only where the LWP was woken otherwise.
pub(crate) fn sleep_until(deadline: u64) {
    let _alarm = Alarm::set(deadline);
    block();
}

/// Blocks, where there is a deadline until then at most.
pub(crate) fn block_until(deadline: Option<u64>) {
    match deadline {
        Some(deadline) => sleep_until(deadline),
        None => block(),
    }
}

/// Others wait: the running LWP has a slice from when it came, unless it knows already.
pub(super) fn start_slice(here: Here) {
    if here.slice_end.get() == u64::MAX && !here.slice_over.load(SeqCst) {
        start_slice_at(here, clock);
    }
}

/// The running LWP has another slice.
pub(super) fn renew_slice(here: Here) {
    here.slice_end.set(clock() + crate::time::slice_ticks());
    arm(here);
}

/// The running LWP's slice ends a slice after it came. The clock is read only where the timer has to be set.
#[inline]
pub(super) fn start_slice_at(here: Here, now: impl FnOnce() -> u64) {
    let end = here.dispatched_at.get() + crate::time::slice_ticks();
    here.slice_end.set(end);
    if end < here.timer_set_for.get() {
        set_timer(&here, end, now());
    }
}

/// Sets this CPU's timer for the first thing that is due, if it is not set for an earlier moment.
pub(super) fn arm(here: Here) {
    let due = first_due(&here);
    if due < here.timer_set_for.get() {
        set_timer(&here, due, clock());
    }
}

fn set_timer(cpu: &Cpu, due: u64, now: u64) {
    cpu.timer_set_for.set(due);
    arch::set_timer(due.saturating_sub(now));
}

fn first_due(cpu: &Cpu) -> u64 {
    let tick = TICK.load(Relaxed);
    let tick_due = if tick == 0 { u64::MAX } else { clock() + tick };
    let alarm_due = cpu.timers.lock().next_deadline().unwrap_or(u64::MAX);
    cpu.slice_end.get().min(alarm_due).min(tick_due)
}

/// When debug builds last summed up the machine.
static SUMMED_UP: AtomicU64 = AtomicU64::new(0);

/// Law 3 once a second, in debug builds, while there are timer interrupts at all.
fn check_machine(now: u64) {
    let last = SUMMED_UP.load(Relaxed);
    if cfg!(debug_assertions)
        && crate::time::is_started()
        && now > last + crate::time::rate().hz()
        && SUMMED_UP.compare_exchange(last, now, SeqCst, Relaxed).is_ok()
    {
        crate::proc::machine::times(); // which panics where the law does not hold
    }
}

/// Whether somebody was kept out too long by those of better priority, who may come and go without a slice ever ending.
fn turn_is_due(here: Here, now: u64) -> bool {
    let Some(lwp) = here.current.get() else { return false };
    here.waiting.load(SeqCst) > 0 && here.dispatcher.lock().turn_is_due(lwp.priority(), now)
}

/// So many are woken by one interrupt; the others by the next one, which comes at once.
const WOKEN_AT_ONCE: usize = 32;

/// The timer went off: wakes whoever is due, and has a slice that is over end on the way back to user mode.
pub(crate) fn timer_interrupt(here: Here) {
    here.timer_set_for.set(u64::MAX);
    let now = clock();
    for _ in 0..WOKEN_AT_ONCE {
        let due = here.timers.lock().pop_due(now);
        let Some(slot) = due else { break };
        wake(table::lwp(slot));
    }
    if here.slice_end.get() <= now || turn_is_due(here, now) {
        here.slice_end.set(u64::MAX);
        here.slice_over.store(true, SeqCst);
        here.ask_for_attention();
    }
    arm(here);
    check_machine(now);
}
