//! The programs that tell of semaphores, from end to end.

use harness::fixture::{finish, program, rust_program};
use harness::machine::Machine;
use std::ffi::OsStr;

/// What these commands print, which are run while a semaphore is there that went through a few operations.
fn print(commands: &[&str]) -> String {
    let files = ["semstat", "semhist"].map(rust_program);
    let options: Vec<&OsStr> =
        files.iter().flat_map(|file| [OsStr::new("--file"), file.as_os_str()]).collect();
    let run = finish(Machine::deterministic().command_with(&options, program("semaphores")).args(commands));
    assert_eq!(run.status, 0, "{}{}", run.text(), run.stderr);
    run.text()
}

#[test]
fn semstat_shows_figures_flags_and_owner() {
    let text = print(&["semstat"]);
    let words: Vec<&str> = text.lines().nth(1).expect("a semaphore").split_whitespace().collect();
    // Three P's, one of them at once, one conditional and in vain, one that waited; a V that woke it.
    assert_eq!(words[1..10], ["shop", "0", "0", "MDH-", "1", "3", "1", "0", "1"], "{text}");
    assert!(words[10].parse::<f64>().is_ok_and(|waited| waited > 0.5), "{text}");
    assert_eq!(words[11..13], ["pid", "2"], "{text}");
}

#[test]
fn semstat_counts_from_table_to_table() {
    let text = print(&["semstat 1 2"]);
    let counts: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("shop"))
        .map(|line| line.split_whitespace().nth(6).expect("psemas"))
        .collect();
    assert_eq!(counts, ["3", "0"], "{text}");
}

#[test]
fn semhist_tells_what_happened_in_its_order() {
    let text = print(&["semhist shop"]);
    let told: Vec<&str> = text.lines().skip(1).filter_map(|line| line.rsplit(": ").next()).collect();
    let expected = [
        "P, at once",
        "P, without waiting: none",
        "P, begins to wait",
        "V, wakes pid 2 LWP 2",
        "P, has waited",
    ];
    assert!(text.starts_with("arena shop: 5 operations, 0 lost\n"), "{text}");
    let told: Vec<String> = told.iter().map(|&words| words.to_owned()).collect();
    assert_eq!(told[0], expected[0], "{text}");
    assert_eq!(told[2..], expected[2..], "{text}");
}

#[test]
fn semhist_draws_a_column_for_each_lwp() {
    let text = print(&["semhist -t"]);
    let columns: Vec<Vec<&str>> =
        text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let marks: Vec<&str> = columns.iter().map(|words| words[3]).collect();
    assert_eq!(marks, ["+", "-", ".", ">", "+"], "{text}");
}

#[test]
fn wrong_words_are_told_how() {
    let run = finish(Machine::deterministic().command(rust_program("semhist")).args(["-x"]));
    assert_eq!((run.status, run.stderr.contains("usage") || run.text().contains("usage")), (2, true));
    let run = finish(Machine::deterministic().command(rust_program("semhist")).args(["nowhere"]));
    assert_eq!(run.status, 1, "{}", run.text());
}
