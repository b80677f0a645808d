//! The tests that cargo runs on the host: unit and property tests of the host crates, and the end-to-end tests.

use super::Options;
use super::libtest::closing_lines;
use super::tally::{Board, Report};
use crate::project::{self, HostPackage};
use anyhow::Result;
use std::process::Command;

/// Random cases for each property in a long run; a short one uses what each test names.
const LONG_CASES: &str = "20000";
/// End-to-end tests at a time: each runs QEMU.
const END_TO_END_THREADS: &str = "2";

/// Tests every default package, the harness without its end-to-end tests, and the models of concurrent code.
pub(crate) fn run_crates(options: &Options, board: &mut Board) -> Result<()> {
    for HostPackage { name, has_models } in project::default_packages()? {
        let own: &[&str] = if name == env!("CARGO_PKG_NAME") { &["--lib", "--bins"] } else { &[] };
        let mut command = project::cargo(&["test", "--quiet", "--no-fail-fast", "-p", &name]);
        command.args(own);
        if options.long {
            command.env("PROPTEST_CASES", LONG_CASES);
        }
        board.suite(&format!("host {name}"), || vec![cargo_test(&name, command)]);
        if has_models {
            let mut command = project::cargo(&["test", "--quiet", "-p", &name]);
            command.args(["--features", "loom", "--lib", "--tests", "loom"]);
            board.suite(&format!("host {name} models"), || vec![cargo_test(&name, command)]);
        }
    }
    Ok(())
}

/// Runs the end-to-end tests of the harness.
pub(crate) fn run_end_to_end(options: &Options, board: &mut Board) {
    let filter = format!("*{}*", options.filter.as_deref().unwrap_or(""));
    let mut command = project::cargo(&["test", "--quiet", "--no-fail-fast", "-p", env!("CARGO_PKG_NAME")]);
    command.args(["--test", &filter]);
    command.envs([project::PREBUILT]).env("RUST_TEST_THREADS", END_TO_END_THREADS);
    board.suite("end to end", || vec![cargo_test("end to end", command)]);
}

fn cargo_test(name: &str, mut command: Command) -> Report {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Report::broken(name, format!("cargo: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let (results, _) = closing_lines(&text);
    let details = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    Report { name: name.to_owned(), tally: results.tally(output.status.success()), details }
}
