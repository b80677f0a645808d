//! Programs that run other programs of the root folder.

use harness::fixture::{finish, program, rust_program};
use harness::machine::Machine;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Runs `main` where `files` are in the root folder too.
fn run_with(files: &[PathBuf], main: PathBuf, arguments: &[&str]) -> harness::fixture::Finished {
    let options: Vec<&OsStr> =
        files.iter().flat_map(|file| [OsStr::new("--file"), file.as_os_str()]).collect();
    finish(Machine::default().command_with(&options, main).args(arguments))
}

#[test]
fn the_c_library_finds_a_shell() {
    // It asks for /bin/sh: /bin is the root folder too.
    let run = run_with(&[program("sh")], program("shell"), &[]);
    let expected = "sh: one two\nsystem: exit 2\nread: sh: three words here\npopen: exit 3\n\
                    sh: alone\nWRITTEN\npopen: exit 1\n";
    assert_eq!((run.text().as_str(), run.status), (expected, 0), "{}", run.stderr);
}

#[test]
fn without_a_shell_the_c_library_says_so() {
    let run = run_with(&[], program("shell"), &[]);
    assert!(run.text().starts_with("system: other 255\n"), "{}", run.text());
}

#[test]
fn ps_lists_itself_and_its_makers() {
    let files = ["ps", "time"].map(rust_program);
    let [ps, time] = &files;
    let options = [OsStr::new("--file"), ps.as_os_str()];
    // In virtual time who has come how far is the same in every run.
    let run = finish(Machine::deterministic().command_with(&options, time).args(["time", "ps"]));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = run.text();
    let rows = text.lines().map(|line| line.split_whitespace().collect()).collect::<Vec<Vec<&str>>>();
    // The console has one stream: what `time` says comes behind.
    let [_, first, second, third, behind, ..] = &rows[..] else { panic!("three processes: {text}") };
    assert_eq!(behind[0], "real");
    assert_eq!((first[0], first[1], first[2], first[3], first[7]), ("1", "0", "1", "S", "time"));
    assert_eq!((second[1], second[2], second[7]), ("1", "1", "time")); // about to wait, or waiting
    assert_eq!((third[1], third[2], third[3], third[7]), (second[0], "1", "R", "ps"));
}

#[test]
fn time_tells_what_a_command_used() {
    let run = run_with(&[rust_program("burn")], rust_program("time"), &["burn", "0.1", "50"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = run.text() + &run.stderr; // the console has one stream
    let figure = |name: &str| -> f64 {
        let line =
            text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
    };
    let (real, user, system) = (figure("real"), figure("user"), figure("sys"));
    assert!(real >= 0.1 && user > 0.0 && system > 0.0 && user + system <= real, "{text}");
}

#[test]
fn time_passes_a_status_on() {
    let files = [program("status")];
    assert_eq!(run_with(&files, rust_program("time"), &["status", "9"]).status, 9);
    assert_eq!(run_with(&files, rust_program("time"), &["absent"]).status, 127);
    assert_eq!(run_with(&files, rust_program("time"), &[]).status, 2);
}
