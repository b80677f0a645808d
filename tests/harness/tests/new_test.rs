//! `make new-test`: what it writes is found, runs and passes.

use harness::fixture::finish;
use harness::project;
use std::path::Path;
use std::process::Command;

fn harness(arguments: &[&str], guest: &Path) -> harness::fixture::Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harness"));
    finish(command.args(arguments).arg("--guest").arg(guest).current_dir(project::root()))
}

#[test]
fn new_tests_pass_as_they_are() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let manifest = "[package]\nname = \"fresh\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest).expect("temporary folder");
    std::fs::write(folder.path().join("lib.rs"), "").expect("temporary folder");

    for arguments in [["new-test", "--language=rust", "fresh_rust"], ["new-test", "--language=c", "fresh_c"]]
    {
        let new = harness(&arguments, folder.path());
        assert_eq!(new.status, 0, "{}", new.stderr);
        let again = harness(&arguments, folder.path());
        assert!(again.status == 2 && again.stderr.contains("exists"), "{}", again.stderr);
    }
    let run = harness(&["test", "--only=guest", "--configuration=icount-max"], folder.path());
    assert_eq!(run.text().lines().last(), Some("2 passed, 0 failed"), "{}{}", run.text(), run.stderr);
}

#[test]
fn a_name_must_do_for_a_file_and_a_crate() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for name in ["", "Upper", "1st", "a b", "../a", "a-b"] {
        let run = harness(&["new-test", "--", name], folder.path());
        assert_eq!(run.status, 2, "{name:?}: {}", run.stderr);
    }
}
