//! One run of the kernel in QEMU, from its start to its end.
//!
//! QEMU runs in a temporary folder that holds the archive, the log and the outcome under fixed names, and that goes
//! away with this process however the run ends. QEMU's console is two pipes: the host's standard streams keep their
//! modes, and every byte passes through `console`.

mod archive;
mod boot_log;
mod console;
pub mod outcome;
mod report;
mod symbols;
mod watch;

use anyhow::{Context, Result};
use archive::Root;
use report::Report;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use watch::End;

/// What `harness run` is told.
#[derive(clap::Args)]
pub struct Options {
    /// The kernel, for the names of a backtrace.
    #[arg(long)]
    kernel: PathBuf,
    /// End the machine after so many seconds; 0: never.
    #[arg(long, value_parser = seconds)]
    timeout: Option<Duration>,
    /// Standard input is a terminal.
    #[arg(long)]
    terminal: bool,
    /// A file for the guest's root folder.
    #[arg(long = "file")]
    files: Vec<PathBuf>,
    /// A further NAME=value for the first program.
    #[arg(long)]
    environ: Vec<String>,
    /// Keep the kernel's log there.
    #[arg(long)]
    log: Option<PathBuf>,
    /// One argument of QEMU. It runs in a folder with `root.cpio`, and is to make `log` and `outcome` there.
    #[arg(long, allow_hyphen_values = true)]
    qemu: Vec<OsString>,
    /// The first program and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// The longest time-out that is taken as one; about thirty years.
const LONGEST_SECONDS: f64 = 1e9;

fn seconds(text: &str) -> Result<Duration> {
    let seconds: f64 = text.parse()?;
    Ok(Duration::try_from_secs_f64(seconds.min(LONGEST_SECONDS))?)
}

/// Runs the program in QEMU and returns the runner's exit status. Fails before QEMU is started, where a file is
/// missing or not what it should be.
pub fn run(options: &Options) -> Result<u8> {
    let (program, arguments) = options.command.split_first().context("no program")?;
    let environment = environment(&options.environ);
    let root =
        Root { program: Path::new(program), arguments, environment: &environment, files: &options.files };
    let folder = TempDir::with_prefix("tally-").context("temporary folder")?;
    std::fs::write(folder.path().join("root.cpio"), root.archive()?).context("writing the archive")?;

    let end = watch::run(options, folder.path())?;
    boot_log::say_warnings(&folder.path().join("log"));
    let report = Report::new(folder.path(), &options.kernel);
    if let Some(kept) = &options.log {
        std::fs::write(kept, report.file("log")).with_context(|| kept.display().to_string())?;
    }
    match end {
        End::Itself(status) => Ok(report.outcome(status)),
        End::TimedOut(after) => Ok(report.timed_out(after)),
        End::Told(signal) => {
            drop(folder);
            end_by_signal(signal)
        }
    }
}

/// A text of the run's folder; empty where nothing was said.
fn text(file: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned()
}

/// The environment of the first program: fixed, but for a few things that the user may set on the host.
fn environment(further: &[String]) -> Vec<String> {
    let fixed = ["PATH=/", "HOME=/"].map(str::to_owned).into_iter();
    let passed = ["TERM", "RUST_BACKTRACE", "RUST_TEST_THREADS", "TALLY_SEED", "TALLY_LONG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok().map(|value| format!("{name}={value}")));
    fixed.chain(passed).chain(further.iter().cloned()).collect()
}

/// Ends this process by `signal`, so that the caller sees what ended it.
fn end_by_signal(signal: i32) -> Result<u8> {
    signal_hook::low_level::emulate_default_handler(signal)?;
    Ok(128 + signal as u8)
}
