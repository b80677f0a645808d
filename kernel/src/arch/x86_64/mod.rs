//! x86-64: the only assembly, registers and ports. What this module re-exports is all that the rest of the kernel
//! knows about the machine, and all that another architecture would have to offer.

mod acpi;
mod apic;
mod calibrate;
mod context;
mod debug_port;
mod entry;
mod features;
mod fpu;
mod gdt;
mod halt;
mod hpet;
mod idt;
mod io_apic;
mod pvh;
mod rtc;
mod serial;
mod smap;
mod start_cpus;
mod traps;
mod tsc;

pub(crate) mod backtrace;
pub(crate) mod frame;

pub(crate) use acpi::{MAX_CPUS, Machine, power_off, read_tables};
pub(crate) use apic::{interrupt_at_once, kick, own_apic_id, set_timer};
pub(crate) use calibrate::calibrate;
pub(crate) use context::{Context, CpuArea, go_on_with_stack, return_to_frame};
pub(crate) use debug_port::{Outcome, end_at_once, log_bytes, tell_outcome};
pub(crate) use entry::{clone_with_registers, fork_with_registers, trace_calls, vfork_with_registers};
pub(crate) use features::{features, probe as probe_features};
pub(crate) use fpu::FpuState;
pub(crate) use frame::Frame;
pub(crate) use halt::wait_for_interrupt;
pub(crate) use pvh::BootInformation;
pub(crate) use rtc::read_wall_clock;
pub(crate) use serial::{receive, send, send_at_once, start_console};
pub(crate) use start_cpus::{choose_start_page, prepare_start_page, reset, wake};
pub(crate) use tsc::{clock, clock_fenced};

use x86_64::VirtAddr;
use x86_64::registers::control::{Cr3, Cr4, Cr4Flags};
use x86_64::registers::model_specific::{FsBase, KernelGsBase};

/// The interrupt flag in `rflags`.
pub(crate) const FLAG_INTERRUPTS: u64 = 1 << 9;

/// Forgets every cached translation of this CPU, global ones too.
pub(crate) fn flush_translations() {
    // SAFETY: switching global pages off and on again forgets all; where the CPU has none, so does loading CR3.
    unsafe {
        if features().global_pages {
            Cr4::update(|flags| flags.remove(Cr4Flags::PAGE_GLOBAL));
            Cr4::update(|flags| flags.insert(Cr4Flags::PAGE_GLOBAL));
        } else {
            let (frame, flags) = Cr3::read();
            Cr3::write(frame, flags);
        }
    }
}

/// Whether interrupts reach this CPU.
pub(crate) fn interrupts_are_on() -> bool {
    x86_64::instructions::interrupts::are_enabled()
}

/// Lets pending interrupts in for one instruction: the stated window of long kernel operations.
pub(crate) fn interrupt_window() {
    // SAFETY: callers hold no lock and no per-CPU reference (contract of `cpu::window`).
    unsafe { core::arch::asm!("sti", "nop", "cli", options(nomem, nostack)) };
}

/// Stops this CPU for good.
pub(crate) fn halt_for_ever() -> ! {
    loop {
        x86_64::instructions::interrupts::disable();
        x86_64::instructions::hlt();
    }
}

/// Clears the segment selectors that user code may have loaded: they are not part of an LWP's state, and no other LWP
/// is to see them. Returns whether there were any: loading a selector may have changed the bases.
#[inline]
pub(crate) fn clear_user_selectors() -> bool {
    let selectors: u64;
    // SAFETY: reads four registers.
    unsafe {
        core::arch::asm!(
            "mov {all:e}, ds", "mov {one:e}, es", "or {all:e}, {one:e}", "mov {one:e}, fs", "or {all:e}, {one:e}",
            "mov {one:e}, gs", "or {all:e}, {one:e}",
            all = out(reg) selectors, one = out(reg) _, options(nomem, nostack),
        );
    }
    if selectors as u32 != 0 {
        // SAFETY: null selectors are valid in 64-bit mode; between the two swaps the GS base that may change is the user's.
        unsafe {
            core::arch::asm!(
                "mov ds, {zero:e}", "mov es, {zero:e}", "mov fs, {zero:e}", "swapgs", "mov gs, {zero:e}", "swapgs",
                zero = in(reg) 0, options(nostack),
            );
        }
    }
    selectors as u32 != 0
}

/// Sets the base of the FS segment that user code sees. `address` is canonical and below the user limit.
pub(crate) fn set_user_fs(address: u64) {
    FsBase::write(VirtAddr::new_truncate(address));
}

/// Sets the base of the GS segment that user code sees; it takes effect with the return to user mode.
pub(crate) fn set_user_gs(address: u64) {
    KernelGsBase::write(VirtAddr::new_truncate(address));
}

/// Random bits from the CPU, where it has a source of them.
pub(crate) fn hardware_random() -> Option<u64> {
    x86_64::instructions::random::RdRand::new()?.get_u64()
}

/// Prepares this CPU's tables and control registers: descriptor tables, system-call registers, protection bits and
/// the FPU. `area` is this CPU's for good.
pub(crate) fn start_cpu(area: &'static CpuArea) {
    gdt::load(area);
    idt::load();
    features::enable();
    fpu::enable();
    entry::enable_syscalls();
}

/// Prepares a CPU that was woken, as [`start_cpu`] and [`start_interrupts`] do the boot CPU.
pub(crate) fn start_other_cpu(area: &'static CpuArea) {
    start_cpu(area);
    apic::start_this_cpu();
}

/// Brings up the interrupt controllers, with the timer stopped.
pub(crate) fn start_interrupts(machine: &Machine) {
    io_apic::start(machine);
    apic::start(machine);
}
