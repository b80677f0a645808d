//! What an end of QEMU means: the kernel's outcome line and QEMU's own status, made into the runner's exit status.

use std::process::ExitStatus;

/// Exit status for a mistake of the caller's, such as a missing file.
pub const MISTAKE: u8 = 2;
/// Exit status where the time was over.
pub const TIMED_OUT: u8 = 124;
/// Exit status where the kernel panicked, or the machine stopped without a word.
pub const PANICKED: u8 = 125;
/// Exit status where QEMU, the CPU or the machine lacks something.
pub const LACKING: u8 = 126;

/// isa-debug-exit turns the value `v` written to it into QEMU's status `2 v + 1`.
const QEMU_PANICKED: i32 = 2 * 62 + 1;
const QEMU_LACKING: i32 = 2 * 63 + 1;

/// How a machine ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The first program ended; this is its status as a shell gives it.
    Program(u8),
    /// The kernel panicked.
    Panic,
    /// The kernel cannot run on this CPU or machine.
    Lacking,
    /// QEMU stopped, or the machine reset, and the kernel said nothing.
    Silent,
    /// QEMU did not start, or broke down.
    Emulator,
}

impl Outcome {
    /// Reads QEMU's status and the kernel's outcome line, which is empty where it wrote none.
    pub fn read(qemu: ExitStatus, line: &str) -> Outcome {
        match qemu.code() {
            Some(QEMU_PANICKED) => Outcome::Panic,
            Some(QEMU_LACKING) => Outcome::Lacking,
            Some(0) => program(line).map_or(Outcome::Silent, Outcome::Program),
            _ => Outcome::Emulator,
        }
    }

    /// The runner's exit status.
    pub fn status(self) -> u8 {
        match self {
            Outcome::Program(status) => status,
            Outcome::Panic | Outcome::Silent => PANICKED,
            Outcome::Lacking | Outcome::Emulator => LACKING,
        }
    }
}

/// `exit N` or `signal N`, as a shell's status.
fn program(line: &str) -> Option<u8> {
    match line.trim_end().split_once(' ')? {
        ("exit", number) => number.parse().ok(),
        ("signal", number) => number.parse::<u8>().ok()?.checked_add(128),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn read(code: i32, line: &str) -> Outcome {
        Outcome::read(ExitStatus::from_raw(code << 8), line)
    }

    #[test]
    fn the_programs_end_is_the_status() {
        assert_eq!(read(0, "exit 0\n"), Outcome::Program(0));
        assert_eq!(read(0, "exit 255\n"), Outcome::Program(255));
        assert_eq!(read(0, "signal 11\n"), Outcome::Program(139));
    }

    #[test]
    fn an_end_without_a_sensible_line_is_no_success() {
        for line in ["", "exit\n", "exit 256\n", "exit -1\n", "signal 200\n", "ended 0\n"] {
            assert_eq!(read(0, line), Outcome::Silent, "{line:?}");
        }
    }

    #[test]
    fn a_panic_counts_even_after_the_program_ended() {
        assert_eq!(read(125, "exit 0\n"), Outcome::Panic);
        assert_eq!(read(127, ""), Outcome::Lacking);
        assert_eq!(read(1, "exit 0\n"), Outcome::Emulator);
        assert_eq!(Outcome::read(ExitStatus::from_raw(6), "exit 0\n"), Outcome::Emulator);
    }
}
