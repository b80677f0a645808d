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

/// The host tells the console of the end of its input at a moment of its own choosing, and that interrupt is drawn for too, so
/// a run may differ. Two of a few are the same, to the nanosecond, only where nothing but the seed decides.
#[test]
fn the_same_seed_gives_the_same_run() {
    const RUNS: usize = 5;
    let mut runs: Vec<String> = Vec::new();
    let again = (0..RUNS).any(|_| {
        let run = times_of_a_run(1);
        assert!(run.contains("ns a round trip"), "{run}");
        let is_known = runs.contains(&run);
        runs.push(run);
        is_known
    });
    assert!(again, "all of {RUNS} runs differ: {runs:?}");
    assert!(!runs.contains(&times_of_a_run(2)), "the seed does not matter");
}
