//! The option `strace`: every call with its arguments, result and cost, on the log and on the console.
//!
//! Traced calls come in by an entry of their own, so that untraced ones pay nothing for the possibility.

use super::dispatch;
use crate::arch::{Frame, clock};
use crate::cpu::Here;
use crate::fs::console;
use crate::time::rate;
use core::fmt;
use syscalls::Errno;

/// As `enter`, telling what happens. The telling is outside what it measures, though inside the LWP's system time.
pub(crate) extern "sysv64" fn enter_traced(frame: &mut Frame) -> u64 {
    let before = clock();
    let tid = Here::get().lwp().tid();
    if may_not_return(frame) {
        console::print(format_args!("[{tid}] {}\n", Call(frame)));
    }
    let result = dispatch(frame);
    let cost = rate().nanoseconds(clock() - before);
    console::print(format_args!("[{tid}] {} = {} ({cost} ns)\n", Call(frame), Outcome(result)));
    result
}

fn may_not_return(frame: &Frame) -> bool {
    use syscalls::number;
    matches!(frame.error as usize, number::execve | number::exit | number::exit_group)
}

struct Call<'a>(&'a Frame);

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.error as usize;
        let Some(row) = syscalls::row(number) else {
            return write!(f, "unknown call {number} ({number:#x})");
        };
        write!(f, "{}(", row.name)?;
        for (index, ((name, kind), value)) in row.arguments.iter().zip(self.0.arguments()).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match *kind {
                "Int" => write!(f, "{comma}{name}={}", value as i32)?,
                "Unsigned" => write!(f, "{comma}{name}={:#x}", value as u32)?,
                "Address" => write!(f, "{comma}{name}={value:#x}")?,
                "Long" => write!(f, "{comma}{name}={}", value as i64)?,
                _ => write!(f, "{comma}{name}={value}")?,
            }
        }
        write!(f, ")")
    }
}

/// What went into `rax`.
struct Outcome(u64);

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Errno::from_return(self.0) {
            Ok(value) if value > 0xffff => write!(f, "{value:#x}"),
            Ok(value) => write!(f, "{value}"),
            Err(errno) => write!(f, "-{} ({})", errno.name(), Errno::text(errno)),
        }
    }
}
