//! The registers of an interrupted or calling LWP, as the entry code leaves them on its kernel stack.

use core::mem::offset_of;

/// What every entry into the kernel leaves, lowest address first.
///
/// A system call does not set the six registers that Rust preserves by itself (`r15` … `rbx`, unless the call copies
/// its caller, see `entry.s`) and those that SYSCALL takes (`r11`, `rcx`, `rax`); [`Frame::complete`] fills the latter
/// where the slow way back, which restores everything, is taken.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
#[allow(missing_docs)] // the names are the registers'
pub(crate) struct Frame {
    pub r15: u64,
    pub r14: u64,
    pub r13: u64,
    pub r12: u64,
    pub rbp: u64,
    pub rbx: u64,
    pub r10: u64,
    pub r9: u64,
    pub r8: u64,
    pub rdx: u64,
    pub rsi: u64,
    pub rdi: u64,
    pub r11: u64,
    pub rcx: u64,
    pub rax: u64,
    /// The interrupt vector; not set by a system call.
    pub vector: u64,
    /// The error code of an exception; the number of a system call.
    pub error: u64,
    pub rip: u64,
    pub cs: u64,
    pub rflags: u64,
    pub rsp: u64,
    pub ss: u64,
}

// The entry code makes room for 22 words and keeps the stack aligned for the call into Rust.
const _: () = assert!(size_of::<Frame>() == 22 * 8 && size_of::<Frame>().is_multiple_of(16));
const _: () = assert!(offset_of!(Frame, vector) == 15 * 8);

impl Frame {
    /// Whether the entry came from user mode.
    pub(crate) fn is_user(&self) -> bool {
        self.cs & 3 == 3
    }

    /// The six arguments of a system call.
    pub(crate) fn arguments(&self) -> [u64; 6] {
        [self.rdi, self.rsi, self.rdx, self.r10, self.r8, self.r9]
    }

    /// Makes a system call's frame whole, so that restoring all of it returns `result` to the caller.
    pub(crate) fn complete(&mut self, result: u64) {
        self.rax = result;
        self.rcx = self.rip;
        self.r11 = self.rflags;
    }

    /// The frame of a program's first instruction: all registers clear but the instruction and stack pointers.
    pub(crate) fn start(rip: u64, rsp: u64) -> Self {
        let (cs, ss) = super::gdt::USER_SELECTORS;
        Frame { rip, rsp, cs, ss, rflags: super::FLAG_INTERRUPTS, ..Frame::default() }
    }
}
