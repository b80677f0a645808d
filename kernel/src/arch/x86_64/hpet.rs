//! The high-precision event timer, as a reference to calibrate against.

use crate::mm::kernel_space::map_device;
use core::ptr::NonNull;
use volatile::VolatilePtr;

const CAPABILITIES: usize = 0x000;
const CONFIGURATION: usize = 0x010;
const COUNTER: usize = 0x0f0;
const ENABLE: u64 = 1;
const FEMTOSECONDS_PER_NANOSECOND: u64 = 1_000_000;

/// A running HPET.
pub(super) struct Hpet {
    base: *mut u8,
    /// Femtoseconds per count.
    period: u64,
}

impl Hpet {
    /// Starts the counter of the HPET at physical address `address`. None: it does not answer sensibly.
    pub(super) fn start(address: u64) -> Option<Self> {
        let base = map_device(address, 4096).expect("boot has memory for device mappings");
        let mut hpet = Hpet { base, period: 0 };
        hpet.period = hpet.register(CAPABILITIES).read() >> 32;
        // The specification's bounds: the period is not 0 and at most 100 ns.
        if !(1..=100 * FEMTOSECONDS_PER_NANOSECOND).contains(&hpet.period) {
            return None;
        }
        let configuration = hpet.register(CONFIGURATION);
        configuration.write(configuration.read() | ENABLE);
        Some(hpet)
    }

    /// The counter now. Its low 32 bits, which every HPET has.
    pub(super) fn counts(&self) -> u32 {
        self.register(COUNTER).read() as u32
    }

    /// How long `counts` take, in nanoseconds.
    pub(super) fn nanoseconds(&self, counts: u32) -> u64 {
        u64::from(counts) * self.period / FEMTOSECONDS_PER_NANOSECOND
    }

    fn register(&self, offset: usize) -> VolatilePtr<'static, u64> {
        // SAFETY: the base is a mapping of the registers that stays for ever; offsets lie inside it.
        unsafe { VolatilePtr::new(NonNull::new_unchecked(self.base.add(offset).cast())) }
    }
}
