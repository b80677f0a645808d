//! Floating-point and vector state of LWPs. The kernel itself is compiled without such registers.

use super::features::features;
use core::arch::asm;
use core::cell::UnsafeCell;
use x86_64::registers::control::{Cr0, Cr0Flags, Cr4, Cr4Flags};
use x86_64::registers::xcontrol::{XCr0, XCr0Flags};

/// x87, SSE and AVX: what LWPs may use, and the room it takes in XSAVE's standard format.
const STATE_BYTES: usize = 832;
/// What XSAVE saves and restores: bits of XCR0.
const COMPONENTS: u32 = 0b111;

/// The state a program starts with: all clear, x87 control word 0x037F, MXCSR 0x1F80.
const FRESH: [u8; STATE_BYTES] = {
    let mut bytes = [0; STATE_BYTES];
    (bytes[0], bytes[1]) = (0x7f, 0x03);
    (bytes[24], bytes[25]) = (0x80, 0x1f);
    bytes[512] = 0b11; // XSTATE_BV: take x87 and SSE from this image; AVX starts clear
    bytes
};

/// The saved registers of an LWP that does not run. Exactly the running LWP's state is in the CPU.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct FpuState(UnsafeCell<[u8; STATE_BYTES]>);

impl FpuState {
    /// The state a program starts with.
    pub(crate) const fn new() -> Self {
        FpuState(UnsafeCell::new(FRESH))
    }

    /// Puts this CPU's registers here.
    ///
    /// # Safety
    /// The state is of the LWP that runs here, or of one being made by it: nobody else reads or writes it.
    #[inline]
    pub(crate) unsafe fn save(&self) {
        let bytes = self.0.get();
        // SAFETY: the area is aligned and large enough for the components, and the caller's to write.
        unsafe {
            if features().xsave {
                asm!("xsave64 [{}]", in(reg) bytes, in("eax") COMPONENTS, in("edx") 0, options(nostack));
            } else {
                asm!("fxsave64 [{}]", in(reg) bytes, options(nostack));
            }
        }
    }

    /// Loads this CPU's registers from here.
    ///
    /// # Safety
    /// The state was made by [`FpuState::new`] or saved by [`FpuState::save`], and nobody writes it.
    #[inline]
    pub(crate) unsafe fn load(&self) {
        let bytes = self.0.get();
        // SAFETY: an image of our own making has no reserved bits set, so the instruction does not fault.
        unsafe {
            if features().xsave {
                asm!("xrstor64 [{}]", in(reg) bytes, in("eax") COMPONENTS, in("edx") 0, options(nostack));
            } else {
                asm!("fxrstor64 [{}]", in(reg) bytes, options(nostack));
            }
        }
    }

    /// Makes this the state a program starts with.
    ///
    /// # Safety
    /// Nobody else reads or writes the state.
    pub(crate) unsafe fn reset(&self) {
        static SOURCE: [u8; STATE_BYTES] = FRESH; // so that none is made on the stack
        // SAFETY: the caller's to write.
        unsafe { self.0.get().copy_from_nonoverlapping(&raw const SOURCE, 1) };
    }
}

/// Lets user code use what the CPU has of x87, SSE and AVX.
pub(super) fn enable() {
    // SAFETY: sets documented bits that `features` found; the kernel itself uses none of these registers.
    unsafe {
        Cr0::update(|flags| {
            flags.remove(Cr0Flags::EMULATE_COPROCESSOR | Cr0Flags::TASK_SWITCHED);
            flags.insert(Cr0Flags::MONITOR_COPROCESSOR | Cr0Flags::NUMERIC_ERROR);
        });
        Cr4::update(|flags| flags.insert(Cr4Flags::OSFXSR | Cr4Flags::OSXMMEXCPT_ENABLE));
        if features().xsave {
            Cr4::update(|flags| flags.insert(Cr4Flags::OSXSAVE));
            let mut components = XCr0Flags::X87 | XCr0Flags::SSE;
            components.set(XCr0Flags::AVX, features().avx);
            XCr0::write(components);
        }
    }
}
