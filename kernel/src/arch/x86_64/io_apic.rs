//! The I/O interrupt controller: leads the serial port's interrupt to the boot CPU; everything else stays masked.

use super::acpi::Machine;
use super::idt::SERIAL;
use crate::mm::kernel_space::map_device;
use core::ptr::NonNull;
use volatile::VolatilePtr;
use x86_64::instructions::port::Port;

const SELECT: usize = 0x00;
const WINDOW: usize = 0x10;
const REDIRECTION: u32 = 0x10;

/// Masks the old interrupt controllers and routes the serial interrupt (edge, active high, to the first CPU).
pub(super) fn start(machine: &Machine) {
    mask_old_controllers();
    let Some((address, first)) = machine.io_apic else {
        log::warn!("no I/O APIC: the console takes no input");
        return;
    };
    let base = map_device(address, 4096).expect("boot has memory for device mappings");
    let index = REDIRECTION + 2 * (machine.serial_input - first);
    write(base, index + 1, u32::from(machine.cpus[0]) << 24);
    write(base, index, u32::from(SERIAL));
}

fn write(base: *mut u8, index: u32, value: u32) {
    // SAFETY: `base` is the mapping of the controller's registers, which only boot uses.
    let at = |offset| unsafe { VolatilePtr::new(NonNull::new_unchecked(base.add(offset).cast::<u32>())) };
    at(SELECT).write(index);
    at(WINDOW).write(value);
}

fn mask_old_controllers() {
    for data_port in [0x21, 0xa1] {
        // SAFETY: all ones masks every input of an 8259; where there is none, nothing listens.
        unsafe { Port::<u8>::new(data_port).write(0xff) };
    }
}
