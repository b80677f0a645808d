//! The kernel's command line.

use kcore::loadavg::Pace;

/// What can be asked for. Words are separated by blanks; a word that is not known is ignored with a warning.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// `strace`: every system call is logged with its result and cost.
    pub(crate) strace: bool,
    /// `console=tty`: input comes from a person at a terminal; otherwise from a pipe.
    pub(crate) console_is_terminal: bool,
    /// `tick=HZ`: extra timer interrupts, which tests ask for; 0: none.
    pub(crate) tick_hz: u64,
    /// `seed=N`: random bytes are the same in every run.
    pub(crate) seed: Option<u64>,
    /// `loadavg-scale=N`: the load averages' clock runs so many times as fast, 1 to 10 000.
    pub(crate) loadavg_scale: u32,
    /// `perturb=SEED`: scheduling is disturbed, by a generator that begins with the seed (checked kernels).
    pub(crate) perturb: Option<u64>,
    /// `panic-test`: the kernel panics at the end of boot.
    pub(crate) panic_test: bool,
    /// `overflow-test`: the kernel overflows a stack of its own at the end of boot.
    pub(crate) overflow_test: bool,
    /// `check-stacks`: how deep kernel stacks get is measured, and at least a quarter of each must stay free.
    pub(crate) check_stacks: bool,
}

/// Whether the log goes to the console too: asked for before the rest is read, so that the log can tell about it.
pub(crate) fn is_verbose(line: &str) -> bool {
    line.split_ascii_whitespace().any(|word| word == "verbose")
}

/// Reads the command line.
pub(crate) fn read(line: &str) -> Options {
    let mut options = Options { loadavg_scale: 1, ..Options::default() };
    for word in line.split_ascii_whitespace() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("verbose", "") => {} // see `is_verbose`
            ("strace", "") => options.strace = true,
            ("panic-test", "") => options.panic_test = true,
            ("overflow-test", "") => options.overflow_test = true,
            ("check-stacks", "") => options.check_stacks = true,
            ("console", kind @ ("tty" | "pipe")) => options.console_is_terminal = kind == "tty",
            ("tick", hz) if hz.parse::<u64>().is_ok_and(|hz| hz <= 1_000_000) => {
                options.tick_hz = hz.parse().unwrap_or(0);
            }
            ("loadavg-scale", scale)
                if scale.parse().is_ok_and(|scale| (1..=Pace::FASTEST).contains(&scale)) =>
            {
                options.loadavg_scale = scale.parse().unwrap_or(1);
            }
            ("seed", seed) if seed.parse::<u64>().is_ok() => options.seed = seed.parse().ok(),
            ("perturb", seed) if seed.parse::<u64>().is_ok() => options.perturb = seed.parse().ok(),
            _ => log::warn!("kernel option '{word}' is not known; ignored"),
        }
    }
    options
}
