//! What is said on standard error of a run that went wrong.

use super::outcome::{Outcome, TIMED_OUT};
use super::symbols::{PANIC, Symbols};
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

/// Says on standard error what went wrong in a run.
pub(crate) struct Report<'a> {
    folder: &'a Path,
    kernel: &'a Path,
}

impl<'a> Report<'a> {
    /// Of the run in `folder`, of this kernel.
    pub(crate) fn new(folder: &'a Path, kernel: &'a Path) -> Report<'a> {
        Report { folder, kernel }
    }

    /// A text of the run's folder.
    pub(crate) fn file(&self, name: &str) -> String {
        super::text(&self.folder.join(name))
    }

    /// Says what ended a machine that ended by itself, where it was not its program; the runner's exit status.
    pub(crate) fn outcome(&self, status: ExitStatus) -> u8 {
        let outcome = Outcome::read(status, &self.file("outcome"));
        match outcome {
            Outcome::Program(_) => {}
            Outcome::Panic => self.say("the kernel panicked", "log", 40),
            Outcome::Lacking => self.say("the kernel cannot run on this machine", "log", 3),
            Outcome::Silent => self.say("the machine stopped without an outcome", "log", 10),
            Outcome::Emulator => self.say(&format!("QEMU ended by itself ({status})"), "errors", 10),
        }
        outcome.status()
    }

    /// Says what a machine did last that had to be ended; the runner's exit status.
    pub(crate) fn timed_out(&self, after: Duration) -> u8 {
        self.say(&format!("no end after {:.1} s", after.as_secs_f64()), "log", 5);
        TIMED_OUT
    }

    /// Prints `what`, then the last lines of a file; of a log with a panic, everything from the panic on.
    fn say(&self, what: &str, file: &str, lines: usize) {
        eprintln!("qemu-run.sh: {what}");
        let text = self.file(file);
        let all: Vec<&str> = text.lines().collect();
        let panic = all.iter().position(|line| line.starts_with(PANIC));
        let first = panic.unwrap_or(all.len().saturating_sub(lines));
        for line in Symbols::of(self.kernel).explain(&all[first..]) {
            eprintln!("{line}");
        }
    }
}
