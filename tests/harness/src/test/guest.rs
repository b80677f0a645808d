//! The tests inside the kernel: every program of tests, in every configuration.

use super::Options;
use super::configuration::{self, Configuration};
use super::discover::{self, Kind, Program};
use super::libtest;
use super::tally::{Board, Report, Tally};
use crate::machine::Machine;
use crate::project;
use anyhow::{Result, ensure};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Virtual CPUs at a time, over all QEMUs.
const CPUS: u32 = 2;
/// No guest test is started later than this after the first.
const STAGE_LIMIT: Duration = Duration::from_secs(20 * 60);
/// A program that takes its full length may take so many times the usual limit.
const LONG_LIMIT: u32 = 20;
/// How much is shown of a program that went wrong.
const SHOWN_LINES: usize = 40;

/// Builds the guest tests and runs them in every configuration.
pub(crate) fn run(options: &Options, board: &mut Board) -> Result<()> {
    let folder = project::root().join(&options.guest);
    let part = options.filter.as_deref().unwrap_or("");
    let mut programs = discover::rust_programs(&folder, part)?;
    let failures = discover::c_programs(&folder, part, &mut programs);
    ensure!(!programs.is_empty() || !failures.is_empty(), "no guest test {part:?} in {}", folder.display());
    if !failures.is_empty() {
        board.suite("guest build of C tests", || failures);
    }

    let mut configurations = configuration::usual();
    if options.long {
        configurations.extend(configuration::further());
    }
    let part = options.configuration.as_deref().unwrap_or("");
    configurations.retain(|configuration| configuration.name.contains(part));
    ensure!(!configurations.is_empty(), "no configuration has {part:?} in its name");

    let end = Instant::now() + if options.long { STAGE_LIMIT * 20 } else { STAGE_LIMIT };
    for Configuration { name, machine, programs: wanted, long_repetitions } in configurations {
        let append = [machine.append.as_str(), &options.append].join(" ").trim().to_owned();
        let timeout = options.limit() * if machine.long { LONG_LIMIT } else { 1 };
        let machine = Machine { append, timeout, ..machine };
        let programs: Vec<&Program> = programs.iter().filter(|program| wanted.has(&program.name)).collect();
        if programs.is_empty() {
            continue;
        }
        let repetitions = if options.long { long_repetitions } else { 1 };
        board.suite(&format!("guest {name}"), || {
            (0..repetitions).flat_map(|_| run_all(&programs, &machine, end)).collect()
        });
    }
    Ok(())
}

/// Runs every program on the machine, as many at a time as leave each virtual CPU one of the host's.
fn run_all(programs: &[&Program], machine: &Machine, end: Instant) -> Vec<Report> {
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..(CPUS / machine.cpus).max(1) {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = run_one(program, machine, end);
                    reports.lock().expect("no holder panics").push(report);
                }
            });
        }
    });
    reports.into_inner().expect("no holder panics")
}

fn run_one(program: &Program, machine: &Machine, end: Instant) -> Report {
    let failed = |details| Report {
        name: program.name.clone(),
        tally: Tally { passed: 0, failed: program.tests() },
        details,
    };
    if Instant::now() > end {
        return failed("not started: the time for all guest tests is over".to_owned());
    }
    let machine = Machine { seed: new_seed(machine), ..machine.clone() };
    let mut command = machine.command(&program.path);
    // One after the other: some tests look at what the whole machine does.
    command.env("RUST_TEST_THREADS", "1").envs([project::PREBUILT]);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return failed(format!("qemu-run.sh: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let ended_well = output.status.success();
    let tally = match program.kind {
        Kind::C => Tally { passed: u32::from(ended_well), failed: u32::from(!ended_well) },
        Kind::Rust(expected) => libtest::judge(&text, expected, ended_well),
    };
    let details = format!(
        "{}{}{}\nrepeat it: {}",
        last_lines(&text),
        last_lines(&String::from_utf8_lossy(&output.stderr)),
        output.status,
        machine.shell_line(&program.path)
    );
    Report { name: program.name.clone(), tally, details }
}

/// What a storm begins with: something else each time, but in virtual time, where every run is to be the same.
fn new_seed(machine: &Machine) -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (!machine.icount).then_some(now.as_micros() as u64)
}

/// The end of a text, which says why.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].iter().map(|line| format!("{line}\n")).collect()
}
