//! What the registers hold at a program's first instruction.

use std::arch::global_asm;
use std::cell::UnsafeCell;

/// The registers of a program that has done nothing yet. (The stack pointer is the kernel's to choose.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct FirstRegisters {
    /// All but the stack pointer.
    pub general: [u64; 15],
    /// The flags.
    pub flags: u64,
    /// The vector registers, as SSE sees them.
    pub vectors: [u128; 16],
    /// SSE's control word.
    pub mxcsr: u32,
    /// The x87 control word.
    pub control: u16,
}

/// Written once, by the program's first instructions, and only read from then on.
#[repr(transparent)]
struct Start(UnsafeCell<FirstRegisters>);

// SAFETY: it is written before there is a second thread, or any Rust code.
unsafe impl Sync for Start {}

#[unsafe(no_mangle)]
static GUEST_START_REGISTERS: Start = Start(UnsafeCell::new(FirstRegisters {
    general: [u64::MAX; 15],
    flags: u64::MAX,
    vectors: [u128::MAX; 16],
    mxcsr: u32::MAX,
    control: u16::MAX,
}));

/// What the registers held when this program began.
#[must_use]
pub fn first_registers() -> FirstRegisters {
    // SAFETY: nobody writes any more.
    unsafe { *GUEST_START_REGISTERS.0.get() }
}

// The program's entry (build.rs): stores, and goes on where programs begin otherwise.
global_asm!(
    ".global guest_start",
    ".type guest_start, @function",
    "guest_start:",
    "mov [rip + GUEST_START_REGISTERS], rax",
    "lea rax, [rip + GUEST_START_REGISTERS]",
    "mov [rax + 8], rbx",
    "mov [rax + 16], rcx",
    "mov [rax + 24], rdx",
    "mov [rax + 32], rsi",
    "mov [rax + 40], rdi",
    "mov [rax + 48], rbp",
    "mov [rax + 56], r8",
    "mov [rax + 64], r9",
    "mov [rax + 72], r10",
    "mov [rax + 80], r11",
    "mov [rax + 88], r12",
    "mov [rax + 96], r13",
    "mov [rax + 104], r14",
    "mov [rax + 112], r15",
    "pushfq",
    "pop qword ptr [rax + 120]",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
    "movups [rax + 128 + 16 * \\n], xmm\\n",
    ".endr",
    "stmxcsr [rax + 384]",
    "fnstcw [rax + 388]",
    "jmp _start",
    ".size guest_start, . - guest_start",
);

const _: () = assert!(std::mem::offset_of!(FirstRegisters, flags) == 120);
const _: () = assert!(std::mem::offset_of!(FirstRegisters, vectors) == 128);
const _: () = assert!(std::mem::offset_of!(FirstRegisters, mxcsr) == 384);
const _: () = assert!(std::mem::offset_of!(FirstRegisters, control) == 388);
