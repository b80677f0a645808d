//! Programs for the end-to-end tests.

use crate::machine::Machine;
use crate::project;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A program of `fixtures/programs`, built with `userlib/cc`.
///
/// # Panics
/// Where it does not build.
pub fn program(name: &str) -> PathBuf {
    compiled("tests/harness/fixtures/programs", name)
}

/// A C program of `tests/programs/c`.
///
/// # Panics
/// Where it does not build.
pub fn c_program(name: &str) -> PathBuf {
    compiled("tests/programs/c", name)
}

/// A program of `tests/programs/src/bin`.
///
/// # Panics
/// Where it does not build.
pub fn rust_program(name: &str) -> PathBuf {
    rust_programs(&[name]).remove(0)
}

/// Programs of `tests/programs/src/bin`.
///
/// # Panics
/// Where one does not build.
pub fn rust_programs(names: &[&str]) -> Vec<PathBuf> {
    let build = ["build", "--quiet", "--release", "--target", "x86_64-unknown-linux-musl", "-p", "programs"];
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(build);
    cargo.args(names.iter().flat_map(|name| ["--bin", name]));
    assert_eq!(finish(&mut cargo).status, 0, "cargo builds {names:?}");
    names.iter().map(|name| project::program(name)).collect()
}

/// Runs commands one after the other where `programs` are in the root folder. A comma ends a command; each is printed
/// behind a `$`, then what it says, and its exit status where that is not 0.
///
/// # Panics
/// Where something does not build, or the run does not end well.
pub fn session(machine: &Machine, programs: &[&str], words: &[&str]) -> Finished {
    let files = rust_programs(programs);
    let options: Vec<&OsStr> =
        files.iter().flat_map(|file| [OsStr::new("--file"), file.as_os_str()]).collect();
    let run = finish(machine.command_with(&options, program("commands")).args(words));
    assert_eq!(run.status, 0, "{}{}", run.text(), run.stderr);
    run
}

/// Builds beside the final place and moves: several tests may want the same program at once.
fn compiled(folder: &str, name: &str) -> PathBuf {
    let place = project::target_folder().join("fixtures");
    std::fs::create_dir_all(&place).expect("target folder");
    let building = tempfile::tempdir_in(&place).expect("target folder");
    let source = project::root().join(folder).join(name).with_extension("c");
    project::compile_c(&source, &building.path().join(name)).unwrap_or_else(|error| panic!("{error:#}"));
    let program = place.join(name);
    std::fs::rename(building.path().join(name), &program).expect("same folder");
    program
}

/// What a finished command printed, and its exit status as a shell gives it.
pub struct Finished {
    /// Exit status, or 128 + signal.
    pub status: i32,
    /// Bytes on standard output.
    pub stdout: Vec<u8>,
    /// Text on standard error.
    pub stderr: String,
}

impl Finished {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Runs a command to its end.
///
/// # Panics
/// Where it cannot be started.
pub fn finish(command: &mut Command) -> Finished {
    use std::os::unix::process::ExitStatusExt;
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let status = output.status.code().or(output.status.signal().map(|signal| 128 + signal));
    Finished {
        status: status.expect("it ended"),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A folder for the search path with nothing but these commands of the host's.
///
/// # Panics
/// Where the host lacks one.
pub fn path_with(commands: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    let search_path = std::env::var_os("PATH").expect("a search path");
    for command in commands {
        let mut places = std::env::split_paths(&search_path).map(|folder| folder.join(command));
        let place = places.find(|place| place.exists()).expect(command);
        std::os::unix::fs::symlink(place, folder.path().join(command)).expect("temporary folder");
    }
    folder
}
