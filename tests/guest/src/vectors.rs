//! The x87, SSE and AVX registers, loaded and stored around a system call and a page fault.

use std::arch::{global_asm, is_x86_feature_detected};

/// What the registers hold. Without AVX the upper halves of the vectors are not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct VectorState {
    vectors: [[u8; 32]; 16],
    /// Ten bytes each.
    stack: [[u8; 16]; 8],
    mxcsr: u32,
    control: u16,
}

/// What happens while the registers hold their values: a system call, a write to `page`, and `rounds` of a user loop.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Meanwhile {
    /// The call's number.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 3],
    /// A byte that may be written.
    pub page: u64,
    /// At least 1.
    pub rounds: u64,
}

impl VectorState {
    /// Values that are different in every register and for every `seed`; rounding as the seed says, all exceptions
    /// masked.
    #[must_use]
    pub fn new(seed: u8) -> Self {
        let byte = |register: usize, index: usize| seed ^ (register as u8) << 4 ^ index as u8;
        let mut state = VectorState {
            vectors: std::array::from_fn(|register| std::array::from_fn(|index| byte(register, index))),
            stack: std::array::from_fn(|register| number(seed, register as u8)),
            mxcsr: 0x1f80 | u32::from(seed & 3) << 13,
            control: 0x037f & !(3 << 10) | u16::from(seed & 3) << 10,
        };
        if !is_x86_feature_detected!("avx") {
            state.vectors.iter_mut().for_each(|vector| vector[16..].fill(0));
        }
        state
    }

    /// Loads the registers, lets things happen, and stores the registers again.
    ///
    /// # Safety
    /// The call must do no harm with these arguments, and the page must be there to be written.
    pub unsafe fn pass_through(&mut self, meanwhile: &Meanwhile) {
        let routine = match is_x86_feature_detected!("avx") {
            true => guest_through_avx,
            false => guest_through_sse,
        };
        // SAFETY: the routines use only what a C function may, and put the control words back; the caller answers
        // for what happens meanwhile.
        unsafe { routine(self, meanwhile) }
    }
}

/// An extended number that is in normal form, so that loading and storing it changes no bit: 1.something.
fn number(seed: u8, register: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..10].copy_from_slice(&[seed, register, 3, 4, 5, 6, 7, 0x80, 0xff, 0x3f]);
    bytes
}

unsafe extern "C" {
    fn guest_through_sse(state: *mut VectorState, meanwhile: *const Meanwhile);
    fn guest_through_avx(state: *mut VectorState, meanwhile: *const Meanwhile);
}

// rdi: the state, kept in r9; rsi: what happens, kept in r10 (the kernel keeps both). The x87 stack is filled from the
// last register to the first, so that it is emptied in order.
macro_rules! routine {
    ($name:literal, $move:literal, $register:literal) => {
        global_asm!(
            concat!(".global ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "mov r9, rdi",
            "mov r10, rsi",
            "fninit",
            "fldcw [r9 + 644]",
            "ldmxcsr [r9 + 640]",
            ".irp n, 7,6,5,4,3,2,1,0",
            "fld tbyte ptr [r9 + 512 + 16 * \\n]",
            ".endr",
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
            concat!($move, " ", $register, "\\n, [r9 + 32 * \\n]"),
            ".endr",
            "mov rax, [r10]",
            "mov rdi, [r10 + 8]",
            "mov rsi, [r10 + 16]",
            "mov rdx, [r10 + 24]",
            "syscall",
            "mov rax, [r10 + 32]",
            "mov byte ptr [rax], 1",
            "mov rcx, [r10 + 40]",
            "2: dec rcx",
            "jnz 2b",
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
            concat!($move, " [r9 + 32 * \\n], ", $register, "\\n"),
            ".endr",
            ".irp n, 0,1,2,3,4,5,6,7",
            "fstp tbyte ptr [r9 + 512 + 16 * \\n]",
            ".endr",
            "stmxcsr [r9 + 640]",
            "fnstcw [r9 + 644]",
            "fninit",
            "push 0x1f80",
            "ldmxcsr [rsp]",
            "pop rax",
            "ret",
            concat!(".size ", $name, ", . - ", $name),
        );
    };
}
routine!("guest_through_sse", "movups", "xmm");
routine!("guest_through_avx", "vmovups", "ymm");

const _: () = assert!(std::mem::offset_of!(VectorState, stack) == 512);
const _: () = assert!(std::mem::offset_of!(VectorState, mxcsr) == 640);
const _: () = assert!(std::mem::offset_of!(VectorState, control) == 644);
