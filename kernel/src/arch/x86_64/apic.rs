//! The local interrupt controller and its timer: xAPIC, over memory-mapped registers.

use super::acpi::Machine;
use super::idt::{SPURIOUS, TIMER};
use crate::mm::kernel_space::map_device;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use volatile::VolatilePtr;

const END_OF_INTERRUPT: usize = 0x0b0;
const SPURIOUS_VECTOR: usize = 0x0f0;
const ENABLE: u32 = 1 << 8;
const TIMER_ENTRY: usize = 0x320;
const TIMER_INITIAL: usize = 0x380;
const TIMER_CURRENT: usize = 0x390;
const TIMER_DIVIDE: usize = 0x3e0;
/// The timer's divisor is 1: its finest step.
const DIVIDE_BY_1: u32 = 0b1011;
const REGISTER_BYTES: u64 = 4096;

static REGISTERS: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// Timer counts per clock tick, as a fraction of 2³². Set by calibration.
static COUNTS_PER_TICK: AtomicU64 = AtomicU64::new(0);

#[inline(always)]
fn register(offset: usize) -> VolatilePtr<'static, u32> {
    let base = REGISTERS.load(Ordering::Relaxed);
    // SAFETY: `start` stored the mapping of the registers, which stays for ever; offsets lie inside it.
    unsafe { VolatilePtr::new(NonNull::new_unchecked(base.add(offset).cast())) }
}

/// Maps and enables this CPU's controller, with its timer stopped.
pub(super) fn start(machine: &Machine) {
    if REGISTERS.load(Ordering::Relaxed).is_null() {
        REGISTERS.store(
            map_device(machine.local_apic, REGISTER_BYTES).expect("boot has memory for device mappings"),
            Ordering::Relaxed,
        );
    }
    register(SPURIOUS_VECTOR).write(ENABLE | u32::from(SPURIOUS));
    register(TIMER_DIVIDE).write(DIVIDE_BY_1);
    register(TIMER_ENTRY).write(u32::from(TIMER));
    stop_timer();
}

/// Tells the controller that the interrupt it delivered is dealt with.
#[inline(always)]
pub(super) fn end_of_interrupt() {
    register(END_OF_INTERRUPT).write(0);
}

/// Has this CPU interrupted once, `ticks` of the clock from now, or soon where that is too far ahead for the timer:
/// whoever asked looks at the clock anyway. Replaces what was asked before.
#[inline]
pub(crate) fn set_timer(ticks: u64) {
    let scale = COUNTS_PER_TICK.load(Ordering::Relaxed);
    // One more count than the floor: the interrupt is never early.
    let counts = ((u128::from(ticks) * u128::from(scale)) >> 32) as u64;
    register(TIMER_INITIAL).write(u32::try_from(counts + 1).unwrap_or(u32::MAX));
}

/// Asks for no interrupt.
#[inline]
pub(crate) fn stop_timer() {
    register(TIMER_INITIAL).write(0);
}

/// Starts the timer with a raw count, for calibration.
pub(super) fn start_raw(count: u32) {
    register(TIMER_INITIAL).write(count);
}

/// How many counts are left of a raw start.
pub(super) fn raw_counts_left() -> u32 {
    register(TIMER_CURRENT).read()
}

/// Records that the timer made `counts` in `ticks` of the clock.
pub(super) fn set_rate(counts: u64, ticks: u64) {
    COUNTS_PER_TICK.store(((u128::from(counts) << 32) / u128::from(ticks.max(1))) as u64, Ordering::Relaxed);
}
