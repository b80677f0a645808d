//! `make bench`: what the kernel's paths cost, in guest instructions, and the goals.
//!
//! The program `bench` of tests/programs measures and prints most rows itself; here stands which machine each row
//! wants. The rows of booting come from the kernel's log. Instructions and bytes repeat exactly; rows about two CPUs at
//! the same time do not.

use crate::machine::Machine;
use crate::project;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};

/// What `harness bench` is told.
#[derive(clap::Args)]
pub struct Options {
    /// The rows to measure; all by default.
    rows: Vec<String>,
}

/// A row's name and what it should be.
struct Goal {
    row: &'static str,
    bound: Bound,
}

/// On which side of a number a row should be.
enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// So many hundredths away from another row, which is printed before.
    Near(&'static str, f64),
}

const fn at_most(row: &'static str, most: u32) -> Goal {
    Goal { row, bound: Bound::AtMost(most as f64) }
}

/// What is to be reached. Rows that are only reported have none.
const GOALS: &[Goal] = &[
    at_most("null_syscall", 100),
    at_most("lwp_info", 160),
    at_most("thread_cputime_other", 200),
    at_most("clock_monotonic", 130),
    at_most("timer_interrupt", 450),
    at_most("page_fault_write", 1_200),
    at_most("yield_switch", 320),
    Goal { row: "yield_switch_10000", bound: Bound::Near("yield_switch", 0.01) },
    at_most("futex_pingpong", 1_600),
    at_most("lwp_create_join", 5_000),
    at_most("pthread_create_join", 12_000),
    at_most("fork_exit_wait", 40_000),
    at_most("lwp_memory", 8_192),
    at_most("split_error_max", 20),
    at_most("pset_getloadavg", 180),
    at_most("sema_pair", 27),
    at_most("sema_pair_metered", 33),
    at_most("sema_pair_traced", 600),
    at_most("sema_pingpong_metered", 1_300),
    at_most("usctlsema_fetch", 180),
    at_most("sema_pingpong_2cpu", 45),
    at_most("loadavg_update", 16),
    at_most("loadavg_error", 1),
    Goal { row: "null_syscall_2cpu", bound: Bound::AtLeast(1.8) },
    at_most("boot", 25_000_000),
    at_most("boot_memory", 4_096),
];

/// Rows that one run of the program measures.
struct Group {
    rows: &'static [&'static str],
    model: &'static str,
    append: &'static str,
    /// Several CPUs at the same time, and no virtual time. 0: one CPU in virtual time.
    cpus: u32,
}

/// Most rows' machine.
const PLAIN: Group = Group { rows: &[], model: "max", append: "", cpus: 0 };

/// What clears pages is measured where clearing one is 512 instructions and not 4 096 (`rep stosb` on a CPU with ERMS
/// counts every byte).
const GROUPS: &[Group] = &[
    Group { rows: &["null_syscall", "lwp_info", "thread_cputime_other", "clock_monotonic"], ..PLAIN },
    Group { rows: &["timer_interrupt"], append: "tick=10000", ..PLAIN },
    Group { rows: &["page_fault_write"], model: "qemu64", ..PLAIN },
    Group {
        rows: &[
            "yield_switch",
            "yield_switch_10000",
            "futex_pingpong",
            "futex_pingpong_musl",
            "lwp_create_join",
        ],
        ..PLAIN
    },
    Group { rows: &["pthread_create_join", "fork_exit_wait", "exec_exit"], model: "qemu64", ..PLAIN },
    Group { rows: &["lwp_memory"], ..PLAIN },
    Group { rows: &["split_error_max"], ..PLAIN },
    Group { rows: &["pset_getloadavg"], ..PLAIN },
    Group {
        rows: &[
            "sema_pair",
            "sema_pair_metered",
            "sema_pair_traced",
            "sema_pingpong_metered",
            "usctlsema_fetch",
        ],
        ..PLAIN
    },
    Group { rows: &["loadavg_error"], append: "loadavg-scale=12", ..PLAIN },
    Group {
        rows: &["thread_cputime_running", "wakeup_latency", "null_syscall_2cpu", "sema_pingpong_2cpu"],
        cpus: 2,
        ..PLAIN
    },
    Group { rows: &["pset_bind_running"], cpus: 3, ..PLAIN },
];

/// Rows that the kernel's log tells.
const BOOT_ROWS: [&str; 2] = ["boot", "boot_memory"];

/// The row of an example of kcore's.
const EXAMPLE_ROW: &str = "loadavg_update";

/// Measures and prints. The exit status tells whether everything could be measured, not whether it is good enough.
pub fn run(options: &Options) -> Result<u8> {
    let known: Vec<&str> =
        GROUPS.iter().flat_map(|group| group.rows).chain(&BOOT_ROWS).chain([&EXAMPLE_ROW]).copied().collect();
    for row in &options.rows {
        ensure!(known.contains(&row.as_str()), "no row {row:?}; there are {known:?}");
    }
    let chosen = |rows: &[&'static str]| -> Vec<&'static str> {
        let is_chosen =
            |row: &&str| options.rows.is_empty() || options.rows.iter().any(|chosen| chosen == row);
        rows.iter().copied().filter(is_chosen).collect()
    };
    project::build()?;
    let nothing = project::target_folder().join("c/nothing");
    project::compile_c(&project::root().join("tests/programs/c/nothing.c"), &nothing)?;
    let mut printer = Printer::default();
    let mut results: Vec<Result<()>> =
        GROUPS.iter().map(|group| measure(group, &chosen(group.rows), &nothing, &mut printer)).collect();
    results.push(boot(&chosen(&BOOT_ROWS), &mut printer));
    results.push(example(&chosen(&[EXAMPLE_ROW]), &mut printer));
    let mut status = 0;
    for error in results.into_iter().filter_map(Result::err) {
        eprintln!("bench: {error:#}");
        status = 1;
    }
    Ok(status)
}

/// Runs the program with the rows of a group. `nothing` is the program that one of them starts.
fn measure(group: &Group, rows: &[&str], nothing: &Path, printer: &mut Printer) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let base = match group.cpus {
        0 => Machine::deterministic(),
        cpus => Machine { cpus, ..Machine::default() },
    };
    let machine = Machine { model: group.model, append: group.append.to_owned(), ..base };
    let file = ["--file".as_ref(), nothing.as_os_str()];
    let mut command = machine.command_with(&file, project::program("bench"));
    print_rows(command.args(rows), rows, printer)
}

/// Runs what measures rows, and prints them.
fn print_rows(command: &mut Command, rows: &[&str], printer: &mut Printer) -> Result<()> {
    let output = command.envs([project::PREBUILT]).stderr(Stdio::inherit()).output();
    let output = output.context("qemu-run.sh")?;
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        printer.print(line);
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

/// Runs the example of kcore's in the kernel.
fn example(rows: &[&str], printer: &mut Printer) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let program = project::example_without_vectors("kcore", EXAMPLE_ROW)?;
    print_rows(&mut Machine::deterministic().command(program), rows, printer)
}

/// Boots to the first instruction of a small program and reads the log.
fn boot(rows: &[&str], printer: &mut Printer) -> Result<()> {
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
            "boot" => printer.print(&format!("bench boot {ticks} instructions")),
            _ => printer.print(&format!("bench boot_memory {kibibytes} KiB")),
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

/// Prints rows, and remembers them for the goals that are about two.
#[derive(Default)]
struct Printer {
    rows: Vec<(String, f64)>,
}

impl Printer {
    /// Prints a line of the program's, with the goal where it is missed.
    fn print(&mut self, line: &str) {
        let Some((name, number)) = name_and_number(line) else { return println!("{line}") };
        let goal = GOALS.iter().find(|goal| goal.row == name);
        match goal.and_then(|goal| self.missed(goal, number)) {
            Some(bound) => println!("{line} (goal: {bound})"),
            None => println!("{line}"),
        }
        self.rows.push((name.to_owned(), number));
    }

    /// The goal in words, if the number misses it.
    fn missed(&self, goal: &Goal, number: f64) -> Option<String> {
        match goal.bound {
            Bound::AtMost(most) => (number > most).then(|| format!("at most {most}")),
            Bound::AtLeast(least) => (number < least).then(|| format!("at least {least}")),
            Bound::Near(other, part) => {
                let (_, near) = self.rows.iter().find(|(name, _)| name == other)?;
                let is_near = (number - near).abs() <= part * near;
                (!is_near).then(|| format!("{near}, give or take {} %", part * 100.0))
            }
        }
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
    fn missed_goals_are_told() {
        let printer = Printer { rows: vec![("yield_switch".to_owned(), 300.0)] };
        let missed = |row: &str, number| {
            let goal = GOALS.iter().find(|goal| goal.row == row).expect("a goal");
            printer.missed(goal, number)
        };
        assert_eq!(missed("null_syscall", 100.0), None);
        assert_eq!(missed("null_syscall", 101.0).as_deref(), Some("at most 100"));
        assert_eq!(missed("null_syscall_2cpu", 1.7).as_deref(), Some("at least 1.8"));
        assert_eq!(missed("yield_switch_10000", 303.0), None);
        assert_eq!(missed("yield_switch_10000", 304.0).as_deref(), Some("300, give or take 1 %"));
    }

    #[test]
    fn every_goal_is_a_row() {
        for goal in GOALS {
            let measured = GROUPS.iter().any(|group| group.rows.contains(&goal.row));
            assert!(measured || BOOT_ROWS.contains(&goal.row) || goal.row == EXAMPLE_ROW, "{}", goal.row);
        }
    }
}
