//! The local interrupt controller and its timer: xAPIC, over memory-mapped registers.

use super::acpi::Machine;
use super::idt::{KICK, SPURIOUS, TIMER};
use crate::mm::kernel_space::map_device;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use volatile::VolatilePtr;

const ID: usize = 0x020;
const END_OF_INTERRUPT: usize = 0x0b0;
const COMMAND_LOW: usize = 0x300;
const COMMAND_HIGH: usize = 0x310;
const COMMAND_PENDING: u32 = 1 << 12;
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

/// Maps the controllers, which all CPUs see at the same address, and enables the boot CPU's.
pub(super) fn start(machine: &Machine) {
    let registers =
        map_device(machine.local_apic, REGISTER_BYTES).expect("boot has memory for device mappings");
    REGISTERS.store(registers, Ordering::Relaxed);
    start_this_cpu();
}

/// Enables this CPU's controller, with its timer stopped.
pub(super) fn start_this_cpu() {
    register(SPURIOUS_VECTOR).write(ENABLE | u32::from(SPURIOUS));
    register(TIMER_DIVIDE).write(DIVIDE_BY_1);
    register(TIMER_ENTRY).write(u32::from(TIMER));
    register(TIMER_INITIAL).write(0);
}

/// What one CPU can do to another.
#[derive(Clone, Copy)]
pub(super) enum Command {
    /// Interrupt it at a vector.
    Interrupt(u8),
    /// Interrupt it whatever it does.
    NonMaskable,
    /// Reset it.
    Init,
    /// Start it in the page of this number.
    Start(u8),
}

/// Sends a command to the CPU whose controller has this id.
pub(super) fn command(apic_id: u8, command: Command) {
    let low = match command {
        Command::Interrupt(vector) => u32::from(vector),
        Command::NonMaskable => 0x4400,
        Command::Init => 0x4500,
        Command::Start(page) => 0x4600 | u32::from(page),
    };
    register(COMMAND_HIGH).write(u32::from(apic_id) << 24);
    register(COMMAND_LOW).write(low);
    while register(COMMAND_LOW).read() & COMMAND_PENDING != 0 {
        core::hint::spin_loop();
    }
}

/// The id of this CPU's controller.
pub(crate) fn own_apic_id() -> u8 {
    (register(ID).read() >> 24) as u8
}

/// Makes the CPU whose controller has this id look at what it was asked.
pub(crate) fn kick(apic_id: u8) {
    command(apic_id, Command::Interrupt(KICK));
}

/// Stops the CPU whose controller has this id, wherever it is; it finds out why in the NMI.
pub(crate) fn interrupt_at_once(apic_id: u8) {
    command(apic_id, Command::NonMaskable);
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
    let counts = (u128::from(ticks) * u128::from(scale)) >> 32;
    register(TIMER_INITIAL).write(u32::try_from(counts + 1).unwrap_or(u32::MAX));
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
