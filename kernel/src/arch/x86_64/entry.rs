//! The entry code with the offsets and constants it needs, and the registers that lead to it.

use super::context::CpuArea;
use super::features::SMAP_IS_ON;
use super::frame::Frame;
use super::{gdt, traps};
use crate::{sched, syscall};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use x86_64::VirtAddr;
use x86_64::registers::model_specific::{LStar, SFMask};
use x86_64::registers::rflags::RFlags;

core::arch::global_asm!(include_str!("boot.s"), options(att_syntax));
core::arch::global_asm!(
    include_str!("entry.s"),
    user_rsp = const offset_of!(CpuArea, user_rsp),
    kernel_rsp = const offset_of!(CpuArea, kernel_rsp),
    user_cs = const gdt::USER_SELECTORS.0,
    user_ss = const gdt::USER_SELECTORS.1,
    syscall_vector = const Frame::SYSCALL,
    rdi = const offset_of!(Frame, rdi),
    rsi = const offset_of!(Frame, rsi),
    rdx = const offset_of!(Frame, rdx),
    r8 = const offset_of!(Frame, r8),
    r9 = const offset_of!(Frame, r9),
    r10 = const offset_of!(Frame, r10),
    rip = const offset_of!(Frame, rip),
    rflags = const offset_of!(Frame, rflags),
    rsp = const offset_of!(Frame, rsp),
    smap = sym SMAP_IS_ON,
    syscall_rust = sym syscall::enter,
    syscall_traced_rust = sym syscall::enter_traced,
    trap_rust = sym traps::enter,
    first_return_rust = sym sched::first_return,
);

unsafe extern "sysv64" {
    fn syscall_entry();
    fn syscall_entry_traced();
}

static TRACED: AtomicBool = AtomicBool::new(false);

/// Has every system call traced, on this CPU and those that come up later.
pub(crate) fn trace_calls(traced: bool) {
    TRACED.store(traced, Relaxed);
    enable_syscalls();
}

/// Points SYSCALL at the entry code. It clears every flag that would change how the kernel runs.
pub(super) fn enable_syscalls() {
    let entry = if TRACED.load(Relaxed) { syscall_entry_traced } else { syscall_entry };
    LStar::write(VirtAddr::new(entry as *const () as u64));
    SFMask::write(
        RFlags::INTERRUPT_FLAG
            | RFlags::DIRECTION_FLAG
            | RFlags::TRAP_FLAG
            | RFlags::ALIGNMENT_CHECK
            | RFlags::NESTED_TASK
            | RFlags::IOPL_LOW
            | RFlags::IOPL_HIGH,
    );
}
