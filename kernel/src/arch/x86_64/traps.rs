//! Exceptions and interrupts: who has to deal with them, and what the ledger is told on the way.
//!
//! An exception from user mode is the LWP's own system time; an interrupt is the CPU's, whatever it interrupted. An
//! interrupt that makes the LWP give way does so as that LWP's system time. In kernel mode an exception is a user copy
//! that met a page not yet there or not permitted, or it is a fault of the kernel.

use super::clock;
use super::frame::Frame;
use super::{apic, halt, idt};
use crate::cpu::{self, Here};
use crate::debug::{fail, stretch};
use crate::fs::console;
use crate::mm::{self, Access, FaultError};
use crate::proc::{self, Fault};
use crate::sched;
use bitflags::bitflags;
use core::sync::atomic::Ordering::Relaxed;
use x86_64::registers::control::Cr2;

const DIVIDE: u8 = 0;
const DEBUG: u8 = 1;
const NON_MASKABLE: u8 = 2;
const BREAKPOINT: u8 = 3;
const OVERFLOW: u8 = 4;
const BOUND: u8 = 5;
const INVALID_OPCODE: u8 = 6;
const DOUBLE_FAULT: u8 = 8;
const SEGMENT_NOT_PRESENT: u8 = 11;
const STACK_SEGMENT: u8 = 12;
const PROTECTION: u8 = 13;
const PAGE_FAULT: u8 = 14;
const X87: u8 = 16;
const ALIGNMENT: u8 = 17;
const MACHINE_CHECK: u8 = 18;
const SIMD: u8 = 19;
pub(super) const FIRST_INTERRUPT: u8 = 32;

/// Called by the entry code with interrupts off.
pub(super) extern "sysv64" fn enter(frame: &mut Frame) {
    match frame.vector as u8 {
        // An NMI may interrupt the writer of a ledger: it touches nothing.
        NON_MASKABLE if crate::panic::is_under_way() => super::halt_for_ever(),
        NON_MASKABLE => {}
        DOUBLE_FAULT => broken(frame, "double fault (a kernel stack overflowed?)"),
        MACHINE_CHECK => broken(frame, "machine check"),
        vector @ FIRST_INTERRUPT.. => stretch::of_trap(vector, || interrupt(frame)),
        vector if frame.is_user() => stretch::of_trap(vector, || user_exception(frame)),
        _ => kernel_exception(frame),
    }
}

/// From user mode the entry code has made the crossing to irq, and makes the one back.
fn interrupt(frame: &mut Frame) {
    let here = Here::get();
    here.counters.interrupts.add();
    let interrupted = match frame.is_user() {
        true => None,
        false => {
            halt::skip(frame);
            Some(here.ledger.enter_irq(clock))
        }
    };
    match frame.vector as u8 {
        idt::TIMER => sched::timer_interrupt(here),
        idt::SERIAL => console::interrupt(),
        idt::KICK => {
            cpu::serve();
            sched::kicked(here);
        }
        idt::SPURIOUS => {} // and no end of interrupt
        other => log::warn!("interrupt {other} that nobody asked for"),
    }
    if frame.vector as u8 != idt::SPURIOUS {
        apic::end_of_interrupt();
    }
    match interrupted {
        Some(state) => _ = here.ledger.leave_irq(state, clock),
        None if here.wants_attention() => {
            here.ledger.irq_to_system(clock);
            sched::attend(here);
        }
        None => {}
    }
}

/// The entry code has made the crossing to system, and makes the one back.
fn user_exception(frame: &mut Frame) {
    let fault = match frame.vector as u8 {
        PAGE_FAULT => {
            let resolved = fail::never(|| resolve_page_fault(frame));
            resolved.err().map(|error| describe_page_fault(frame, error))
        }
        vector => Some(Fault {
            name: exception_name(vector),
            signal: signal(vector),
            address: None,
            instruction: frame.rip,
        }),
    };
    if let Some(fault) = fault {
        proc::end_by_fault(fault);
    }
    let here = Here::get();
    if here.wants_attention() {
        sched::attend(here);
    }
}

/// Has the address space of the caller give the page that was touched.
fn resolve_page_fault(frame: &Frame) -> Result<(), FaultError> {
    let code = PageFaultCode::from_bits_retain(frame.error);
    let access = match code {
        _ if code.contains(PageFaultCode::FETCHED) => Access::Execute,
        _ if code.contains(PageFaultCode::WRITTEN) => Access::Write,
        _ => Access::Read,
    };
    let here = Here::get();
    here.counters.faults.add();
    here.lwp().faults.fetch_add(1, Relaxed);
    proc::current_space().fault(Cr2::read_raw(), access)
}

bitflags! {
    /// A page fault's error code; the bits that matter here.
    #[derive(Clone, Copy)]
    struct PageFaultCode: u64 {
        /// A store, not a load.
        const WRITTEN = 0x02;
        /// An instruction fetch.
        const FETCHED = 0x10;
    }
}

fn kernel_exception(frame: &mut Frame) {
    if let Some(fixup) = mm::fixup(frame.rip) {
        if frame.vector as u8 != PAGE_FAULT || resolve_page_fault(frame).is_err() {
            frame.rip = fixup;
        }
        return;
    }
    broken(frame, exception_name(frame.vector as u8))
}

fn broken(frame: &Frame, what: &str) -> ! {
    crate::panic::trapped(frame, what, Cr2::read_raw())
}

/// What a page fault in user mode looks like to the user.
fn describe_page_fault(frame: &Frame, error: FaultError) -> Fault {
    let code = PageFaultCode::from_bits_retain(frame.error);
    let name = match error {
        FaultError::OutOfMemory => "out of memory",
        FaultError::PastEnd => "access to a page past the end of its file",
        _ if code.contains(PageFaultCode::FETCHED) => {
            "execution of a page that is not executable or not mapped"
        }
        _ if code.contains(PageFaultCode::WRITTEN) => "write to a page that is not writable or not mapped",
        _ => "read of a page that is not readable or not mapped",
    };
    let signal = match error {
        FaultError::OutOfMemory => SIGKILL,
        FaultError::PastEnd => SIGBUS,
        FaultError::NotMapped | FaultError::NotPermitted => SIGSEGV,
    };
    Fault { name, signal, address: Some(Cr2::read_raw()), instruction: frame.rip }
}

fn exception_name(vector: u8) -> &'static str {
    match vector {
        DIVIDE => "division error",
        DEBUG => "debug trap",
        BREAKPOINT => "breakpoint",
        OVERFLOW => "overflow trap",
        BOUND => "bound range exceeded",
        INVALID_OPCODE => "invalid instruction",
        SEGMENT_NOT_PRESENT => "segment not present",
        STACK_SEGMENT => "stack segment fault",
        PROTECTION => "general protection fault",
        PAGE_FAULT => "page fault",
        X87 => "x87 floating-point error",
        ALIGNMENT => "misaligned access",
        SIMD => "SIMD floating-point error",
        _ => "unexpected exception",
    }
}

const SIGILL: u8 = 4;
const SIGTRAP: u8 = 5;
const SIGBUS: u8 = 7;
const SIGFPE: u8 = 8;
const SIGKILL: u8 = 9;
const SIGSEGV: u8 = 11;

/// The signal whose default action a fault takes: Linux's choice.
fn signal(vector: u8) -> u8 {
    match vector {
        DIVIDE | X87 | SIMD => SIGFPE,
        DEBUG | BREAKPOINT => SIGTRAP,
        INVALID_OPCODE => SIGILL,
        SEGMENT_NOT_PRESENT | STACK_SEGMENT | ALIGNMENT => SIGBUS,
        _ => SIGSEGV,
    }
}
