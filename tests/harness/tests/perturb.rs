//! The checked kernel's option `perturb`: scheduling is disturbed, by a seed and nothing else.

use harness::machine::Machine;
use harness::{fixture::finish, project};

/// When, in virtual time, the first program began, and what it then found out about time.
fn times_of_a_run(seed: u64) -> String {
    let options =
        Machine { debug_kernel: true, perturbed: true, seed: Some(seed), ..Machine::deterministic() };
    let run = finish(options.command_with(&["--verbose".as_ref()], project::program("pingpong")).arg("50"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = run.text();
    assert!(text.contains(&format!("perturb: seed {seed}\n")), "{text}");
    text.split_once("boot: ").expect("a first program").1.to_owned()
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let first = times_of_a_run(1);
    assert!(first.contains("ns a round trip"), "{first}");
    assert_eq!(first, times_of_a_run(1));
    assert_ne!(first, times_of_a_run(2));
}
