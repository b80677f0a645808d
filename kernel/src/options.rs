//! The kernel's command line.

use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;
use kcore::loadavg::Pace;

/// What can be asked for. Words are separated by blanks; one that says nothing known is ignored with a warning.
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
pub(crate) fn is_verbose(line: &[u8]) -> bool {
    words(line).any(|word| word == b"verbose")
}

/// Reads the command line.
pub(crate) fn read(line: &[u8]) -> Options {
    let mut options = Options { loadavg_scale: 1, ..Options::default() };
    for word in words(line) {
        let taken = str::from_utf8(word).map_err(|_| Wrong::Unknown).and_then(|word| options.take(word));
        if let Err(wrong) = taken {
            log::warn!("kernel option '{}' is ignored: {wrong}", word.escape_ascii());
        }
    }
    options
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

impl Options {
    /// Takes one option.
    fn take(&mut self, word: &str) -> Result<(), Wrong> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        match name {
            "verbose" => drop(switch(value)?), // see `is_verbose`
            "strace" => self.strace = switch(value)?,
            "panic-test" => self.panic_test = switch(value)?,
            "overflow-test" => self.overflow_test = switch(value)?,
            "check-stacks" => self.check_stacks = switch(value)?,
            "console" => match value {
                Some(kind @ ("tty" | "pipe")) => self.console_is_terminal = kind == "tty",
                _ => return Err(Wrong::Console),
            },
            "tick" => self.tick_hz = number(value, 0..=1_000_000)?,
            "loadavg-scale" => self.loadavg_scale = number(value, 1..=Pace::FASTEST)?,
            "seed" => self.seed = Some(number(value, 0..=u64::MAX)?),
            "perturb" => self.perturb = Some(number(value, 0..=u64::MAX)?),
            _ => return Err(Wrong::Unknown),
        }
        Ok(())
    }
}

/// An option without a value is asked for.
fn switch(value: Option<&str>) -> Result<bool, Wrong> {
    if value.is_none() { Ok(true) } else { Err(Wrong::Value) }
}

fn number<N: FromStr + PartialOrd + Into<u64> + Copy>(
    value: Option<&str>,
    range: RangeInclusive<N>,
) -> Result<N, Wrong> {
    let digits = value.filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| range.contains(number));
    number.ok_or(Wrong::Number((*range.start()).into(), (*range.end()).into()))
}

/// What is wrong with an option, and what would be right.
enum Wrong {
    Unknown,
    Value,
    /// Its value is not a whole number between these.
    Number(u64, u64),
    Console,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Unknown => f.write_str("there is no such option; docs/boot.md lists them"),
            Wrong::Value => f.write_str("it takes no value"),
            Wrong::Number(least, most) => write!(f, "it takes a whole number from {least} to {most}"),
            Wrong::Console => f.write_str("it takes tty or pipe"),
        }
    }
}
