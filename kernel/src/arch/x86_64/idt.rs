//! The interrupt descriptor table: 256 gates to the stubs of `entry.s`.

use super::gdt::ExceptionStack;
use spin::Once;
use x86_64::PrivilegeLevel::Ring3;
use x86_64::VirtAddr;
use x86_64::structures::idt::{Entry, HandlerFunc, InterruptDescriptorTable};

/// The vector of the local timer.
pub(super) const TIMER: u8 = 0x20;
/// The vector of the first serial port.
pub(super) const SERIAL: u8 = 0x21;
/// The vector by which CPUs make each other look at what they were asked.
pub(super) const KICK: u8 = 0x22;
/// The vector of interrupts that were withdrawn before they were taken. Its low four bits must be set.
pub(super) const SPURIOUS: u8 = 0xff;

const STUB_BYTES: u64 = 16;

unsafe extern "sysv64" {
    fn trap_stubs();
}

static TABLE: Once<InterruptDescriptorTable> = Once::new();

/// Loads the table, which the first CPU builds.
pub(super) fn load() {
    TABLE.call_once(build).load();
}

fn build() -> InterruptDescriptorTable {
    let mut table = InterruptDescriptorTable::new();
    // SAFETY: stub n is what the CPU must enter for vector n, error code or not; the stacks are those of the IST.
    unsafe {
        table.divide_error.set_handler_addr(stub(0));
        table.debug.set_handler_addr(stub(1));
        table
            .non_maskable_interrupt
            .set_handler_addr(stub(2))
            .set_stack_index(ExceptionStack::NonMaskable as u16);
        table.breakpoint.set_handler_addr(stub(3)).set_privilege_level(Ring3);
        table.overflow.set_handler_addr(stub(4)).set_privilege_level(Ring3);
        table.bound_range_exceeded.set_handler_addr(stub(5));
        table.invalid_opcode.set_handler_addr(stub(6));
        table.device_not_available.set_handler_addr(stub(7));
        table.double_fault.set_handler_addr(stub(8)).set_stack_index(ExceptionStack::DoubleFault as u16);
        table.invalid_tss.set_handler_addr(stub(10));
        table.segment_not_present.set_handler_addr(stub(11));
        table.stack_segment_fault.set_handler_addr(stub(12));
        table.general_protection_fault.set_handler_addr(stub(13));
        table.page_fault.set_handler_addr(stub(14));
        table.x87_floating_point.set_handler_addr(stub(16));
        table.alignment_check.set_handler_addr(stub(17));
        table.machine_check.set_handler_addr(stub(18)).set_stack_index(ExceptionStack::MachineCheck as u16);
        table.simd_floating_point.set_handler_addr(stub(19));
        table.virtualization.set_handler_addr(stub(20));
        table.cp_protection_exception.set_handler_addr(stub(21));
        for vector in 32..=255u8 {
            let entry: &mut Entry<HandlerFunc> = &mut table[vector];
            entry.set_handler_addr(stub(vector));
        }
    }
    table
}

fn stub(vector: u8) -> VirtAddr {
    VirtAddr::new(trap_stubs as *const () as u64 + STUB_BYTES * u64::from(vector))
}
