//! Set-up on machines that lack something, played with a search path that holds only what such a machine has.

use harness::fixture::{Finished, finish, path_with};
use harness::project;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// What the script itself needs, and every system has.
const BASIC: [&str; 6] = ["bash", "env", "dirname", "mkdir", "sed", "tr"];

fn machine(further: &[&str]) -> tempfile::TempDir {
    path_with(&[&BASIC, further].concat())
}

/// Puts a command into the machine that does this, in bash.
fn put(machine: &Path, command: &str, does: &str) {
    let path = machine.join(command);
    std::fs::write(&path, format!("#!/usr/bin/env bash\n{does}\n")).expect("temporary folder");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("temporary folder");
}

fn set_up(machine: &Path) -> Finished {
    let mut command = Command::new(project::root().join("tests/harness/setup.sh"));
    finish(command.env("PATH", machine))
}

/// Asserts that set-up ended and gave this command, alone on the last line.
fn assert_mended_by(run: &Finished, command: &str) {
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert_eq!(run.stderr.lines().last(), Some(format!("    {command}").as_str()), "{}", run.stderr);
}

#[test]
fn without_root_the_one_command_is_given() {
    let machine = machine(&[]);
    put(machine.path(), "id", "echo 1000");
    for (manager, command) in [
        ("pacman", "sudo pacman -S --noconfirm --needed qemu-system-x86 gcc musl"),
        ("dnf", "sudo dnf install -y qemu-system-x86 gcc musl-gcc"),
        ("apt-get", "sudo apt-get install -y qemu-system-x86 gcc musl-tools"),
    ] {
        put(machine.path(), manager, "exit 1");
        assert_mended_by(&set_up(machine.path()), command);
    }
}

#[test]
fn without_a_package_manager_what_is_missing_is_named() {
    let run = set_up(machine(&["gcc"]).path());
    assert_mended_by(&run, "install QEMU 7.2 musl-gcc with your system's package manager");
}

#[test]
fn an_old_qemu_is_not_good_enough() {
    let machine = machine(&["gcc", "musl-gcc"]);
    put(machine.path(), "id", "echo 1000");
    put(machine.path(), "apt-get", "exit 1");
    for old in ["6.2.0", "7.1.9 (Debian 1:7.1)", "4.10.0"] {
        put(machine.path(), "qemu-system-x86_64", &format!("echo QEMU emulator version {old}"));
        assert_mended_by(&set_up(machine.path()), "sudo apt-get install -y qemu-system-x86");
    }
}

#[test]
fn root_gets_what_is_missing_installed() {
    let machine = machine(&["gcc", "musl-gcc", "chmod", "cargo", "rustc"]);
    put(machine.path(), "id", "echo 0");
    let installed = machine.path().join("qemu-system-x86_64");
    let install = format!(
        "[ \"$1\" = update ] && exit 100\n[ \"$*\" = \"install -y qemu-system-x86\" ] || exit 1\n\
         printf '#!/usr/bin/env bash\\necho QEMU emulator version 10.0.2' >'{0}' && chmod +x '{0}'",
        installed.display()
    );
    put(machine.path(), "apt-get", &install);
    let run = set_up(machine.path());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    let again = set_up(machine.path());
    assert_eq!((again.status, again.stderr.as_str()), (0, ""));
}

#[test]
fn without_rustup_the_way_to_it_is_given() {
    let machine = machine(&["gcc", "musl-gcc", "qemu-system-x86_64"]);
    let mut command = Command::new(project::root().join("tests/harness/setup.sh"));
    command.env("PATH", machine.path()).env("HOME", machine.path()).env_remove("CARGO_HOME");
    let run = finish(&mut command);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let last = run.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("    curl ") && last.contains("https://sh.rustup.rs"), "{}", run.stderr);
}
