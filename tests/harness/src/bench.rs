//! `make bench`: what the kernel's paths cost, in guest instructions, and the goals.
//!
//! The program `bench` of tests/programs measures and prints most rows itself; here stands which machine each row
//! wants. The rows of booting come from the kernel's log. Every run is deterministic, so figures repeat exactly.

use crate::machine::Machine;
use crate::project;
use anyhow::{Context, Result, ensure};
use std::process::Stdio;

/// What `harness bench` is told.
#[derive(clap::Args)]
pub struct Options {
    /// The rows to measure; all by default.
    rows: Vec<String>,
}

/// A row's name and the most that it should be.
struct Goal {
    row: &'static str,
    most: u64,
}

/// What is to be reached. Rows that are only reported have none.
const GOALS: &[Goal] = &[
    Goal { row: "null_syscall", most: 100 },
    Goal { row: "lwp_info", most: 160 },
    Goal { row: "thread_cputime_other", most: 200 },
    Goal { row: "clock_monotonic", most: 130 },
    Goal { row: "timer_interrupt", most: 450 },
    Goal { row: "page_fault_write", most: 1_200 },
    Goal { row: "boot", most: 25_000_000 },
    Goal { row: "boot_memory", most: 4_096 },
];

/// Rows that one run of the program measures.
struct Group {
    rows: &'static [&'static str],
    model: &'static str,
    append: &'static str,
}

/// The page fault is measured where clearing a page is 512 instructions and not 4 096 (`rep stosb` on a CPU with
/// ERMS counts every byte).
const GROUPS: &[Group] = &[
    Group {
        rows: &["null_syscall", "lwp_info", "thread_cputime_other", "clock_monotonic"],
        model: "max",
        append: "",
    },
    Group { rows: &["timer_interrupt"], model: "max", append: "tick=10000" },
    Group { rows: &["page_fault_write"], model: "qemu64", append: "" },
];

/// Rows that the kernel's log tells.
const BOOT_ROWS: [&str; 2] = ["boot", "boot_memory"];

/// Measures and prints. The exit status tells whether everything could be measured, not whether it is good enough.
pub fn run(options: &Options) -> Result<u8> {
    let known: Vec<&str> = GROUPS.iter().flat_map(|group| group.rows).chain(&BOOT_ROWS).copied().collect();
    for row in &options.rows {
        ensure!(known.contains(&row.as_str()), "no row {row:?}; there are {known:?}");
    }
    let chosen = |rows: &[&'static str]| -> Vec<&'static str> {
        let is_chosen =
            |row: &&str| options.rows.is_empty() || options.rows.iter().any(|chosen| chosen == row);
        rows.iter().copied().filter(is_chosen).collect()
    };
    project::build()?;
    let mut results: Vec<Result<()>> =
        GROUPS.iter().map(|group| measure(group, &chosen(group.rows))).collect();
    results.push(boot(&chosen(&BOOT_ROWS)));
    let mut status = 0;
    for error in results.into_iter().filter_map(Result::err) {
        eprintln!("bench: {error:#}");
        status = 1;
    }
    Ok(status)
}

fn measure(group: &Group, rows: &[&str]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let machine = Machine { model: group.model, append: group.append.to_owned(), ..Machine::deterministic() };
    let mut command = machine.command(project::program("bench"));
    let output = command.args(rows).envs([project::PREBUILT]).stderr(Stdio::inherit()).output();
    let output = output.context("qemu-run.sh")?;
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        print(line);
    }
    ensure!(output.status.success(), "the rows {rows:?}: {}", output.status);
    for row in rows {
        ensure!(
            text.lines().any(|line| name_and_number(line).is_some_and(|(name, _)| name == *row)),
            "no {row}"
        );
    }
    Ok(())
}

/// Boots to the first instruction of a small program and reads the log.
fn boot(rows: &[&str]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let log = tempfile::NamedTempFile::new()?;
    let options = ["--log".as_ref(), log.path().as_os_str()];
    let mut command = Machine::deterministic().command_with(&options, project::program("hello"));
    let output =
        command.envs([project::PREBUILT]).stderr(Stdio::inherit()).output().context("qemu-run.sh")?;
    ensure!(output.status.success(), "hello: {}", output.status);
    let text = std::fs::read_to_string(log.path())?;
    let (ticks, kibibytes) =
        text.lines().find_map(boot_line).context("the log does not tell the boot's figures")?;
    for row in rows {
        match *row {
            "boot" => print(&format!("bench boot {ticks} instructions")),
            _ => print(&format!("bench boot_memory {kibibytes} KiB")),
        }
    }
    Ok(())
}

/// `boot: first user instruction at N ticks, M KiB in use`: N and M.
fn boot_line(line: &str) -> Option<(u64, u64)> {
    let (_, rest) = line.split_once("boot: first user instruction at ")?;
    let (ticks, rest) = rest.split_once(" ticks, ")?;
    let (kibibytes, _) = rest.split_once(" KiB in use")?;
    Some((ticks.parse().ok()?, kibibytes.parse().ok()?))
}

/// `bench NAME NUMBER UNIT`: NAME and NUMBER.
fn name_and_number(line: &str) -> Option<(&str, f64)> {
    let mut words = line.strip_prefix("bench ")?.split(' ');
    Some((words.next()?, words.next()?.parse().ok()?))
}

/// Prints a line of the program's, with the goal where it is missed.
fn print(line: &str) {
    let goal = name_and_number(line)
        .and_then(|(name, number)| GOALS.iter().find(|goal| goal.row == name && number > goal.most as f64));
    match goal {
        Some(goal) => println!("{line} (goal: {})", goal.most),
        None => println!("{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_line_is_read() {
        let line = "[0.01] boot: first user instruction at 12345678 ticks, 3500 KiB in use";
        assert_eq!(boot_line(line), Some((12_345_678, 3_500)));
        assert_eq!(boot_line("boot: first user instruction"), None);
    }

    #[test]
    fn a_row_is_read() {
        assert_eq!(name_and_number("bench null_syscall 71 instructions"), Some(("null_syscall", 71.0)));
        assert_eq!(name_and_number("benchmark"), None);
    }

    #[test]
    fn every_goal_is_a_row() {
        for goal in GOALS {
            let measured = GROUPS.iter().any(|group| group.rows.contains(&goal.row));
            assert!(measured || BOOT_ROWS.contains(&goal.row), "{}", goal.row);
        }
    }
}
