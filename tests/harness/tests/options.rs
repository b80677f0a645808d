//! The kernel's options: who mistypes one is told so, beside the program's output and status.

use harness::fixture::{Finished, finish, program};
use harness::machine::Machine;
use std::time::Duration;

fn run(append: &str) -> Finished {
    let machine = Machine { append: append.to_owned(), ..Machine::default() };
    finish(machine.command(program("status")).arg("7"))
}

/// What is said of one option.
fn warning(option: &str, why: &str) -> String {
    format!("qemu-run.sh: warning: kernel option '{option}' is ignored: {why}\n")
}

#[test]
fn options_that_are_ignored_are_named_with_what_would_be_right() {
    let scale = "it takes a whole number from 1 to 10000";
    let said = [
        ("loadavg-scale=0", scale),
        ("loadavg-scale=10001", scale),
        ("loadavg-scale=x", scale),
        ("loadavg-scale=-1", scale),
        ("loadavg-scale=1.5", scale),
        ("loadavg-scale=+2", scale),
        ("loadavg-scale=99999999999999999999", scale),
        ("loadavg-scale=", scale),
        ("loadavg-scale", scale),
        ("tick=1000001", "it takes a whole number from 0 to 1000000"),
        ("seed=x", "it takes a whole number from 0 to 18446744073709551615"),
        ("strace=1", "it takes no value"),
        ("console=window", "it takes tty or pipe"),
        ("stracing", "there is no such option; docs/boot.md lists them"),
        ("=", "there is no such option; docs/boot.md lists them"),
        ("perturb=3", "it is for the checked kernel; TALLY_PROFILE=debug runs that"),
    ];
    let run = run(&said.map(|(option, _)| option).join(" "));
    let expected: String = said.iter().map(|(option, why)| warning(option, why)).collect();
    assert_eq!((run.status, run.text(), run.stderr), (7, String::new(), expected));
}

#[test]
fn options_that_are_not_text_are_told_and_the_others_heeded() {
    use std::os::unix::ffi::OsStrExt;
    let option = std::ffi::OsStr::from_bytes(b"--append=\xff\xfe=\x1b strace");
    let run = finish(Machine::default().command_with(&[option], program("status")).arg("7"));
    let expected = warning("\\xff\\xfe=\\x1b", "there is no such option; docs/boot.md lists them");
    assert_eq!((run.status, run.stderr), (7, expected));
    assert!(run.stdout.windows(11).any(|bytes| bytes == b"exit_group("), "strace was heeded");
}

#[test]
fn options_that_are_right_are_not_spoken_of() {
    let run = run("loadavg-scale=10000 seed=0 tick=0 check-stacks");
    assert_eq!((run.status, run.text(), run.stderr), (7, String::new(), String::new()));
}

/// Whoever ends the machine: the warning has been said before.
#[test]
fn warnings_come_before_the_end() {
    let timeout = Duration::from_secs(3);
    let machine = Machine { append: "verbse".to_owned(), timeout, ..Machine::default() };
    let run = finish(&mut machine.command(program("forever")));
    let expected = warning("verbse", "there is no such option; docs/boot.md lists them");
    assert!(run.stderr.starts_with(&(expected + "qemu-run.sh: no end after ")), "{}", run.stderr);
    let panic = self::run("verbse panic-test");
    assert!(panic.stderr.contains("'verbse' is ignored") && panic.status == 125, "{}", panic.stderr);
}
