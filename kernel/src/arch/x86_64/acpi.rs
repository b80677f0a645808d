//! The ACPI tables: which CPUs and controllers there are, and how the power goes off.

use crate::mm::layout::direct;
use acpi::HpetInfo;
use acpi::fadt::Fadt;
use acpi::madt::{Madt, MadtEntry};
use acpi::sdt::SdtHeader;
use acpi::{AcpiHandler, AcpiTables, PhysicalMapping};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use x86_64::instructions::port::Port;

/// CPUs beyond this many are left alone.
pub(crate) const MAX_CPUS: usize = 64;

/// What the tables say about the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    /// Physical address of the local APICs' registers.
    pub(super) local_apic: u64,
    /// Physical address of the first I/O APIC's registers, and the first interrupt it serves.
    pub(super) io_apic: Option<(u64, u32)>,
    /// The I/O APIC input that the ISA serial interrupt (4) arrives at.
    pub(super) serial_input: u32,
    /// Physical address of the HPET's registers.
    pub(super) hpet: Option<u64>,
    /// I/O port of the PM timer.
    pub(super) pm_timer: Option<u16>,
    /// The local APIC ids of the CPUs that can be used.
    pub(crate) cpus: [u8; MAX_CPUS],
    /// How many of them there are.
    pub(crate) cpu_count: usize,
}

/// Control register and value that switch the power off, as `port << 16 | value`; 0: unknown.
static POWER_OFF: AtomicU32 = AtomicU32::new(0);
const SLEEP_ENABLE: u16 = 1 << 13;
/// The interrupt number of the first serial port on the ISA bus.
const SERIAL_ISA: u8 = 4;

#[derive(Clone)]
struct DirectMap;

impl AcpiHandler for DirectMap {
    unsafe fn map_physical_region<T>(&self, physical: usize, size: usize) -> PhysicalMapping<Self, T> {
        let start = NonNull::new(direct::<T>(physical as u64)).expect("the direct map is not at zero");
        // SAFETY: tables lie in memory that the direct map covers.
        unsafe { PhysicalMapping::new(physical, start, size, size, Self) }
    }

    fn unmap_physical_region<T>(_: &PhysicalMapping<Self, T>) {}
}

/// Reads the tables that the root pointer at physical address `rsdp` leads to. The error says what is missing.
///
/// # Safety
/// `rsdp` is what the loader passed, and the direct map covers the tables.
pub(crate) unsafe fn read_tables(rsdp: u64) -> Result<Machine, &'static str> {
    // SAFETY: by the contract.
    let tables = unsafe { AcpiTables::from_rsdp(DirectMap, rsdp as usize) }.map_err(|_| "no ACPI tables")?;
    let mut machine = Machine {
        local_apic: 0,
        io_apic: None,
        serial_input: u32::from(SERIAL_ISA),
        hpet: HpetInfo::new(&tables).ok().map(|hpet| hpet.base_address as u64),
        pm_timer: None,
        cpus: [0; MAX_CPUS],
        cpu_count: 0,
    };
    let madt =
        tables.find_table::<Madt>().map_err(|_| "no ACPI table of the interrupt controllers (MADT)")?;
    read_controllers(&madt, &mut machine);
    if let Ok(fadt) = tables.find_table::<Fadt>() {
        machine.pm_timer = fadt.pm_timer_block().ok().flatten().map(|block| block.address as u16);
        find_power_off(&fadt);
    }
    Ok(machine)
}

fn read_controllers(madt: &PhysicalMapping<DirectMap, Madt>, machine: &mut Machine) {
    machine.local_apic = u64::from(madt.get().local_apic_address);
    for entry in madt.get().entries() {
        match entry {
            MadtEntry::LocalApic(cpu) if cpu.flags & 1 != 0 && machine.cpu_count < MAX_CPUS => {
                machine.cpus[machine.cpu_count] = cpu.apic_id;
                machine.cpu_count += 1;
            }
            MadtEntry::IoApic(io) if machine.io_apic.is_none() => {
                machine.io_apic = Some((u64::from(io.io_apic_address), io.global_system_interrupt_base));
            }
            MadtEntry::InterruptSourceOverride(source) if source.irq == SERIAL_ISA => {
                machine.serial_input = source.global_system_interrupt;
            }
            MadtEntry::LocalApicAddressOverride(address) => machine.local_apic = address.local_apic_address,
            _ => {}
        }
    }
}

/// Finds the value that means soft-off. It stands in byte code (`\_S5`, a package whose first element is the value);
/// an interpreter for that one byte would be larger than the kernel, so the name is searched for.
fn find_power_off(fadt: &PhysicalMapping<DirectMap, Fadt>) {
    let (Ok(control), Ok(dsdt)) = (fadt.pm1a_control_block(), fadt.dsdt_address()) else { return };
    // SAFETY: the FADT says that a table with a length in its header lies there.
    let code = unsafe {
        let header = &*(direct::<SdtHeader>(dsdt as u64));
        core::slice::from_raw_parts(direct::<u8>(dsdt as u64), header.length as usize)
    };
    if let Some(sleep_type) = soft_off_type(code) {
        let value = SLEEP_ENABLE | u16::from(sleep_type) << 10;
        POWER_OFF.store((control.address as u32) << 16 | u32::from(value), Ordering::Relaxed);
    }
}

/// The first element of the package that AML code names `_S5_`: a byte constant, with or without prefix.
fn soft_off_type(code: &[u8]) -> Option<u8> {
    const PACKAGE: u8 = 0x12;
    const BYTE_PREFIX: u8 = 0x0a;
    let name = code.windows(5).position(|bytes| bytes == [b'_', b'S', b'5', b'_', PACKAGE])?;
    let length = name + 5;
    // The package's length takes one to four bytes (the two top bits of the first say how many more), then one byte
    // of element count.
    let first = length + 2 + usize::from(*code.get(length)? >> 6);
    match *code.get(first)? {
        BYTE_PREFIX => code.get(first + 1).copied(),
        constant => Some(constant),
    }
}

/// Switches the power off. Where the tables gave no way, halts.
pub(crate) fn power_off() -> ! {
    let found = POWER_OFF.load(Ordering::Relaxed);
    if found != 0 {
        // SAFETY: the register and value are what the tables give for soft-off.
        unsafe { Port::<u16>::new((found >> 16) as u16).write(found as u16) };
        super::halt_for_ever(); // it takes the machine a moment
    }
    log::error!("the machine does not switch off; stop it by hand");
    super::halt_for_ever()
}
