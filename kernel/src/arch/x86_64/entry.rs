//! The entry code with the offsets and constants it needs, and the registers that lead to it.

use super::context::CpuArea;
use super::frame::Frame;
use super::{gdt, traps};
use crate::cpu::Cpu;
use crate::{sched, syscall};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use kcore::acct::{CpuLedger, CpuState};
use x86_64::VirtAddr;
use x86_64::registers::model_specific::{LStar, SFMask};
use x86_64::registers::rflags::RFlags;

/// The CPU's ledger, from its GS base.
const LEDGER: usize = offset_of!(Cpu, ledger);

core::arch::global_asm!(include_str!("boot.s"), options(att_syntax));
core::arch::global_asm!(
    include_str!("entry.s"),
    user_rsp = const offset_of!(CpuArea, user_rsp),
    kernel_rsp = const offset_of!(CpuArea, kernel_rsp),
    parked_rax = const offset_of!(CpuArea, parked_rax),
    parked_rdx = const offset_of!(CpuArea, parked_rdx),
    sequence = const LEDGER + CpuLedger::LAYOUT.sequence,
    state = const LEDGER + CpuLedger::LAYOUT.state,
    user = const LEDGER + CpuLedger::LAYOUT.user,
    system = const LEDGER + CpuLedger::LAYOUT.system,
    irq = const LEDGER + CpuLedger::LAYOUT.irq,
    state_user = const CpuState::User as u32,
    state_system = const CpuState::System as u32,
    state_irq = const CpuState::Irq as u32,
    attention = const Cpu::ATTENTION,
    system_calls = const Cpu::SYSTEM_CALLS,
    attend_rust = sym syscall::attend,
    first_interrupt = const traps::FIRST_INTERRUPT,
    user_cs = const gdt::USER_SELECTORS.0,
    user_ss = const gdt::USER_SELECTORS.1,
    rbx = const offset_of!(Frame, rbx),
    rbp = const offset_of!(Frame, rbp),
    r12 = const offset_of!(Frame, r12),
    r13 = const offset_of!(Frame, r13),
    r14 = const offset_of!(Frame, r14),
    r15 = const offset_of!(Frame, r15),
    rdi = const offset_of!(Frame, rdi),
    rsi = const offset_of!(Frame, rsi),
    rdx = const offset_of!(Frame, rdx),
    r8 = const offset_of!(Frame, r8),
    r9 = const offset_of!(Frame, r9),
    r10 = const offset_of!(Frame, r10),
    rip = const offset_of!(Frame, rip),
    rflags = const offset_of!(Frame, rflags),
    rsp = const offset_of!(Frame, rsp),
    linux_table = sym syscall::LINUX,
    linux_calls = const syscall::LINUX_CALLS,
    our_table = sym syscall::OURS,
    our_calls = const syscall::OUR_CALLS,
    own_calls = const syscalls::OWN_CALLS,
    unknown_call = sym syscall::unknown,
    traced_call = sym syscall::enter_traced,
    clone_call = sym syscall::clone_call,
    fork_call = sym syscall::fork_call,
    vfork_call = sym syscall::vfork_call,
    trap_rust = sym traps::enter,
    first_return_rust = sym sched::first_return,
);

unsafe extern "sysv64" {
    fn syscall_entry();
    fn syscall_entry_traced();
    /// A function of the system-call table: `clone`, with all its caller's registers in the frame.
    pub(crate) fn clone_with_registers(frame: &Frame) -> u64;
    /// `fork`, likewise.
    pub(crate) fn fork_with_registers(frame: &Frame) -> u64;
    /// `vfork`, likewise.
    pub(crate) fn vfork_with_registers(frame: &Frame) -> u64;
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
