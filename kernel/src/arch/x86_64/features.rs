//! What this CPU has. What the kernel cannot do without is named and ends the boot; the rest is used where it is.

use raw_cpuid::CpuId;
use spin::Once;
use x86_64::registers::control::{Cr4, Cr4Flags};

/// The features that are used where the CPU has them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Features {
    /// The kernel cannot execute user pages.
    pub(crate) smep: bool,
    /// The kernel cannot read or write user pages unless it says so.
    pub(crate) smap: bool,
    /// User code cannot read descriptor-table addresses.
    pub(crate) umip: bool,
    /// XSAVE: state components beyond x87 and SSE.
    pub(crate) xsave: bool,
    /// AVX registers.
    pub(crate) avx: bool,
    /// Pages of 1 GiB.
    pub(crate) huge_pages: bool,
    /// Pages that survive a change of address space in the TLB.
    pub(crate) global_pages: bool,
}

static FEATURES: Once<Features> = Once::new();

/// The features of this machine's CPUs. After [`probe`].
#[inline]
pub(crate) fn features() -> Features {
    // SAFETY: the boot CPU probes before anything asks.
    unsafe { *FEATURES.get_unchecked() }
}

/// Looks at the CPU, once. The error is the name of a feature that it lacks and the kernel needs.
pub(crate) fn probe() -> Result<(), &'static str> {
    let cpuid = CpuId::new();
    let basic = cpuid.get_feature_info().ok_or("CPUID leaf 1")?;
    let extended = cpuid.get_extended_processor_and_feature_identifiers().ok_or("extended CPUID leaves")?;
    let needed = [
        (basic.has_tsc(), "TSC (time-stamp counter)"),
        (basic.has_msr(), "MSR (model-specific registers)"),
        (basic.has_apic(), "APIC (local interrupt controller)"),
        (basic.has_cmpxchg8b(), "CX8 (CMPXCHG8B)"),
        (basic.has_fxsave_fxstor(), "FXSR (FXSAVE and FXRSTOR)"),
        (basic.has_sse2(), "SSE2"),
        (extended.has_syscall_sysret(), "SYSCALL and SYSRET"),
        (extended.has_execute_disable(), "NX (no-execute pages)"),
        (extended.has_64bit_mode(), "LM (64-bit mode)"),
    ];
    if let Some((_, name)) = needed.iter().find(|(present, _)| !present) {
        return Err(name);
    }
    let more = cpuid.get_extended_feature_info();
    let has = |test: fn(&raw_cpuid::ExtendedFeatures) -> bool| more.as_ref().is_some_and(test);
    FEATURES.call_once(|| Features {
        smep: has(|f| f.has_smep()),
        smap: has(|f| f.has_smap()),
        umip: has(|f| f.has_umip()),
        xsave: basic.has_xsave(),
        avx: basic.has_xsave() && basic.has_avx(),
        huge_pages: extended.has_1gib_pages(),
        global_pages: basic.has_pge(),
    });
    if features().smap {
        // SAFETY: probed once, on the boot CPU, before the final page tables make the code read-only.
        unsafe { super::smap::write_instructions() };
    }
    Ok(())
}

/// Switches the protections on, on this CPU.
pub(super) fn enable() {
    let found = features();
    // SAFETY: the bits are set only where CPUID reports them; the kernel touches user memory in `mm::user` alone.
    unsafe {
        Cr4::update(|flags| {
            flags.set(Cr4Flags::SUPERVISOR_MODE_EXECUTION_PROTECTION, found.smep);
            flags.set(Cr4Flags::SUPERVISOR_MODE_ACCESS_PREVENTION, found.smap);
            flags.set(Cr4Flags::USER_MODE_INSTRUCTION_PREVENTION, found.umip);
            flags.set(Cr4Flags::PAGE_GLOBAL, found.global_pages);
        });
    }
}
