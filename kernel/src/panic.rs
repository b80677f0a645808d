//! The end of a kernel that found itself broken: message, registers, backtrace, and the runner's code for it.

use crate::arch::{self, Frame, Outcome, backtrace};
use crate::cpu;
use crate::log_sink::say_at_once;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicU32, Ordering};

/// The CPU that panics.
static PANICKING: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = u32::MAX;

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    begin();
    match info.location() {
        Some(at) => say_at_once(format_args!("panic: {} ({}:{})\n", info.message(), at.file(), at.line())),
        None => say_at_once(format_args!("panic: {}\n", info.message())),
    }
    backtrace::backtrace(say_address);
    arch::end_at_once(Outcome::Panic)
}

/// The end by an exception in the kernel itself: its registers are those of the exception.
pub(crate) fn trapped(frame: &Frame, what: &str, fault_address: u64) -> ! {
    begin();
    say_at_once(format_args!("panic: {what} in the kernel, error code {:#x}\n", frame.error));
    say_registers(frame, fault_address);
    say_address(frame.rip);
    backtrace::backtrace_from(frame.rbp, say_address);
    arch::end_at_once(Outcome::Panic)
}

/// Whether a CPU panics: the others stop where they are.
pub(crate) fn is_under_way() -> bool {
    PANICKING.load(Ordering::SeqCst) != NOBODY
}

/// A panic inside a panic ends the machine without another word.
fn begin() {
    let number = cpu::own_number();
    match PANICKING.compare_exchange(NOBODY, number, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => cpu::stop_others(),
        Err(first) if first == number => arch::end_at_once(Outcome::Panic),
        Err(_) => arch::halt_for_ever(), // another CPU is speaking, and will end the machine
    }
}

fn say_address(address: u64) {
    say_at_once(format_args!("  at {address:#018x}\n"));
}

fn say_registers(f: &Frame, fault_address: u64) {
    let rows: [[(&str, u64); 4]; 5] = [
        [("rip", f.rip), ("rsp", f.rsp), ("rflags", f.rflags), ("cr2", fault_address)],
        [("rax", f.rax), ("rbx", f.rbx), ("rcx", f.rcx), ("rdx", f.rdx)],
        [("rsi", f.rsi), ("rdi", f.rdi), ("rbp", f.rbp), ("cs", f.cs)],
        [("r8", f.r8), ("r9", f.r9), ("r10", f.r10), ("r11", f.r11)],
        [("r12", f.r12), ("r13", f.r13), ("r14", f.r14), ("r15", f.r15)],
    ];
    for row in rows {
        for (name, value) in row {
            say_at_once(format_args!(" {name:>6} {value:016x}"));
        }
        say_at_once(format_args!("\n"));
    }
}
