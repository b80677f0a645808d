//! What the loader hands over: Xen's hvm_start_info, version 1, at the physical address that PVH passes in `ebx`.

use super::debug_port::{Outcome, end_at_once, log_bytes};
use crate::mm::layout::direct;
use core::ffi::CStr;
use core::ops::Range;

const MAGIC: u32 = 0x336e_c578;
/// The memory-map type of ordinary memory.
const RAM: u32 = 1;
/// Device registers lie from here to 4 GiB on every PC.
const DEVICES: u64 = 0xfe00_0000;

#[repr(C)]
#[derive(Clone, Copy)]
struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    module_count: u32,
    modules: u64,
    command_line: u64,
    rsdp: u64,
    memory_map: u64,
    memory_map_entries: u32,
    reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Module {
    address: u64,
    size: u64,
    command_line: u64,
    reserved: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MemoryMapEntry {
    address: u64,
    size: u64,
    kind: u32,
    reserved: u32,
}

/// The loader's information, read in place. Everything it refers to lies in the first GiB, which the boot page table
/// maps; [`BootInformation::reserved`] names it, so that the frame allocator leaves it alone.
#[derive(Clone, Copy)]
pub(crate) struct BootInformation {
    info: StartInfo,
    address: u64,
}

impl BootInformation {
    /// Reads the information at physical address `address`. Ends the machine if it is not there.
    ///
    /// # Safety
    /// `address` is what the loader passed, and the boot page table is loaded.
    pub(crate) unsafe fn new(address: u64) -> Self {
        // SAFETY: by the contract the structure is there and mapped, and nobody writes it.
        let info = unsafe { direct::<StartInfo>(address).read_unaligned() };
        if info.magic != MAGIC || info.version < 1 {
            log_bytes(b"unsupported: the loader gives no PVH start information of version 1\n");
            end_at_once(Outcome::Unsupported);
        }
        BootInformation { info, address }
    }

    /// Physical address of the root pointer of the ACPI tables; 0 where the loader knows none.
    pub(crate) fn rsdp(&self) -> u64 {
        self.info.rsdp
    }

    /// The kernel's command line, which need not be text.
    pub(crate) fn command_line(&self) -> &'static [u8] {
        if self.info.command_line == 0 {
            return b"";
        }
        // SAFETY: the loader ends the line with a zero, and nobody writes it.
        let line = unsafe { CStr::from_ptr(direct(self.info.command_line)) };
        line.to_bytes()
    }

    /// The physical range of the initial root archive: the first module.
    pub(crate) fn archive(&self) -> Option<Range<u64>> {
        let module: Module = self.list(self.info.modules, self.info.module_count).next()?;
        Some(module.address..module.address + module.size)
    }

    /// The physical ranges of ordinary memory.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Range<u64>> + Clone + use<> {
        self.memory_map()
            .filter(|entry| entry.kind == RAM)
            .map(|entry| entry.address..entry.address + entry.size)
    }

    /// Physical ranges that hold the firmware's tables: memory that is not ordinary, but no device either.
    pub(crate) fn tables(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let below_devices =
            |entry: &MemoryMapEntry| entry.kind != RAM && entry.address + entry.size <= DEVICES;
        self.memory_map().filter(below_devices).map(|entry| entry.address..entry.address + entry.size)
    }

    /// The physical ranges that hold what was handed over: not to be given to anybody while it is read.
    pub(crate) fn reserved(&self) -> [Range<u64>; 5] {
        let sized = |address: u64, bytes: usize| address..address + bytes as u64;
        let info = self.info;
        [
            sized(self.address, size_of::<StartInfo>()),
            sized(info.modules, info.module_count as usize * size_of::<Module>()),
            sized(info.command_line, self.command_line().len() + 1),
            sized(info.memory_map, info.memory_map_entries as usize * size_of::<MemoryMapEntry>()),
            self.archive().unwrap_or(0..0),
        ]
    }

    fn memory_map(&self) -> impl Iterator<Item = MemoryMapEntry> + Clone + use<> {
        self.list(self.info.memory_map, self.info.memory_map_entries)
    }

    /// The entries of a list, copied out: not every loader aligns them.
    fn list<T: Copy>(&self, address: u64, count: u32) -> impl Iterator<Item = T> + Clone + use<T> {
        let count = if address == 0 { 0 } else { count as usize };
        // SAFETY: the loader says that so many entries lie there; nobody writes them.
        (0..count).map(move |index| unsafe { direct::<T>(address).add(index).read_unaligned() })
    }
}
