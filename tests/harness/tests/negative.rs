//! The negative control: what must turn `make test` red does. The guest tests of `fixtures/red` go wrong on purpose.

use harness::fixture::{Finished, finish};
use harness::project;
use std::process::Command;

/// `harness test` on the file of that name, on the deterministic machine.
fn test(file: &str, further: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harness"));
    command.args([
        "test",
        "--only=guest",
        "--guest=tests/harness/fixtures/red",
        "--configuration=icount-max",
    ]);
    command.args(["--filter", file]).args(further);
    finish(command.current_dir(project::root()))
}

/// Asserts the last line and an exit status that goes with it.
fn assert_result(run: &Finished, last_line: &str) {
    let text = run.text();
    assert_eq!(text.lines().last(), Some(last_line), "{text}{}", run.stderr);
    assert_eq!(run.status == 0, last_line.ends_with(" 0 failed"), "{text}{}", run.stderr);
}

#[test]
fn all_is_green_where_nothing_fails() {
    assert_result(&test("passes", &[]), "1 passed, 0 failed");
}

#[test]
fn a_failing_test_is_red() {
    let run = test("one_fails", &[]);
    assert_result(&run, "1 passed, 1 failed");
    assert!(run.text().contains("this test fails on purpose"), "{}", run.text());
    assert!(run.text().contains("repeat it: "), "{}", run.text());
    assert_result(&test("exits_with_one", &[]), "0 passed, 1 failed");
}

#[test]
fn tests_that_silently_do_not_run_are_red() {
    assert_result(&test("ends_early", &[]), "1 passed, 2 failed");
}

#[test]
fn a_panic_is_red() {
    let run = test("passes", &["--append=panic-test"]);
    assert_result(&run, "0 passed, 1 failed");
    assert!(run.text().contains("the kernel panicked"), "{}", run.text());
}

#[test]
fn a_hang_is_red() {
    let run = test("hangs", &["--limit=5"]);
    assert_result(&run, "0 passed, 1 failed");
    assert!(run.text().contains("no end after 5.0 s"), "{}", run.text());
}

#[test]
fn what_does_not_build_is_red() {
    let run = test("does_not_build", &[]);
    assert_result(&run, "0 passed, 1 failed");
    assert!(run.text().contains("no_such_thing"), "{}", run.text());
}

#[test]
fn nothing_found_is_red() {
    let run = test("no test has this name", &[]);
    assert_ne!(run.status, 0, "{}", run.text());
}
