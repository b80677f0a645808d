//! System calls by number, and with every register in sight.

use std::arch::global_asm;

use userlib::Errno;

/// Makes a call by its number.
///
/// # Safety
/// The call must do no harm with these arguments.
pub unsafe fn call(number: usize, arguments: &[u64]) -> Result<u64, Errno> {
    let [rdi, rsi, rdx, r10, r8, r9] =
        std::array::from_fn(|index| arguments.get(index).copied().unwrap_or(0));
    let mut registers = Registers { rax: number as u64, rdi, rsi, rdx, r10, r8, r9, ..Registers::default() };
    // SAFETY: the caller answers for the call; flags as they are at any call.
    unsafe { invoke(&mut registers) };
    Errno::from_return(registers.rax)
}

/// The general registers and flags around a `syscall` instruction. (`rcx` and `r11` are the instruction's own.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs)] // the registers' names
pub struct Registers {
    pub rax: u64,
    pub rbx: u64,
    pub rdx: u64,
    pub rsi: u64,
    pub rdi: u64,
    pub rbp: u64,
    pub r8: u64,
    pub r9: u64,
    pub r10: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    pub flags: u64,
}

impl Default for Registers {
    /// A different pattern in each register, and the flags that Rust code has: reserved bit, interrupts on.
    fn default() -> Self {
        let pattern = |index: u64| 0x5a5a_0000_0000_0000 | index << 32 | 0xa5a5_0000 | index;
        Registers {
            rax: pattern(0),
            rbx: pattern(1),
            rdx: pattern(2),
            rsi: pattern(3),
            rdi: pattern(4),
            rbp: pattern(5),
            r8: pattern(8),
            r9: pattern(9),
            r10: pattern(10),
            r12: pattern(12),
            r13: pattern(13),
            r14: pattern(14),
            r15: pattern(15),
            flags: 0x202,
        }
    }
}

unsafe extern "C" {
    /// Loads every register, executes `syscall`, and stores what the registers then hold.
    fn guest_invoke(registers: *mut Registers);
}

/// Executes `syscall` with these registers and flags, and leaves there what they are behind it.
///
/// # Safety
/// The call must do no harm with these arguments, and the flags must be ones that user mode can live with for two
/// instructions.
pub unsafe fn invoke(registers: &mut Registers) {
    // SAFETY: the routine keeps the C convention: callee-saved registers, stack and flags are restored.
    unsafe { guest_invoke(registers) }
}

// Offsets in `Registers`, by eights. The flags go in last and come out first; they are put back before `ret`.
global_asm!(
    ".global guest_invoke",
    ".type guest_invoke, @function",
    "guest_invoke:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "pushfq",
    "push rdi",
    "mov rcx, rdi",
    "mov rax, [rcx]",
    "mov rbx, [rcx + 8]",
    "mov rdx, [rcx + 16]",
    "mov rsi, [rcx + 24]",
    "mov rdi, [rcx + 32]",
    "mov rbp, [rcx + 40]",
    "mov r8, [rcx + 48]",
    "mov r9, [rcx + 56]",
    "mov r10, [rcx + 64]",
    "mov r12, [rcx + 72]",
    "mov r13, [rcx + 80]",
    "mov r14, [rcx + 88]",
    "mov r15, [rcx + 96]",
    "push qword ptr [rcx + 104]",
    "popfq",
    "syscall",
    "pushfq",
    "mov rcx, [rsp + 8]",
    "pop qword ptr [rcx + 104]",
    "mov [rcx], rax",
    "mov [rcx + 8], rbx",
    "mov [rcx + 16], rdx",
    "mov [rcx + 24], rsi",
    "mov [rcx + 32], rdi",
    "mov [rcx + 40], rbp",
    "mov [rcx + 48], r8",
    "mov [rcx + 56], r9",
    "mov [rcx + 64], r10",
    "mov [rcx + 72], r12",
    "mov [rcx + 80], r13",
    "mov [rcx + 88], r14",
    "mov [rcx + 96], r15",
    "pop rdi",
    "popfq",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    ".size guest_invoke, . - guest_invoke",
);

const _: () = assert!(size_of::<Registers>() == 14 * 8);
