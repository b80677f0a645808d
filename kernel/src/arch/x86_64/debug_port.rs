//! Where the kernel tells its runner things: the log, the outcome, and the end of the machine.
//!
//! On a machine without these ports (QEMU's `isa-debugcon` and `isa-debug-exit`) the writes go nowhere.

use core::fmt::{self, Write};
use x86_64::instructions::port::Port;

const LOG_PORT: u16 = 0xe9;
const OUTCOME_PORT: u16 = 0xea;
const EXIT_PORT: u16 = 0xf4;

/// Why the machine ends without a program's exit status. QEMU exits with twice the value plus one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// The kernel found itself broken: exit code 125.
    Panic = 62,
    /// The CPU or the machine lacks something: exit code 127.
    Unsupported = 63,
}

/// Writes to the log port. Takes no lock, so that a panic can always speak.
pub(crate) fn log_bytes(bytes: &[u8]) {
    let mut port = Port::<u8>::new(LOG_PORT);
    for &byte in bytes {
        // SAFETY: the log port has no effect on the machine.
        unsafe { port.write(byte) };
    }
}

/// Tells the runner how the first program ended, as one line, before the power goes off.
pub(crate) fn tell_outcome(outcome: fmt::Arguments) {
    let _ = writeln!(OutcomePort, "{outcome}"); // the port takes every byte
}

struct OutcomePort;

impl Write for OutcomePort {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut port = Port::<u8>::new(OUTCOME_PORT);
        for &byte in text.as_bytes() {
            // SAFETY: the outcome port has no effect on the machine.
            unsafe { port.write(byte) };
        }
        Ok(())
    }
}

/// Ends the machine at once with the runner's code for `outcome`; where nobody listens, halts.
pub(crate) fn end_at_once(outcome: Outcome) -> ! {
    // SAFETY: the port ends the emulator; elsewhere nothing listens at it.
    unsafe { Port::<u32>::new(EXIT_PORT).write(outcome as u32) };
    super::halt_for_ever()
}
