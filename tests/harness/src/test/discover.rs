//! Finds and builds the guest tests: Rust's `#[test]` functions, and C programs that exit with 0.

use super::libtest;
use super::tally::Report;
use crate::project;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of tests.
pub(crate) struct Program {
    /// The name of its source.
    pub(crate) name: String,
    /// The static program.
    pub(crate) path: PathBuf,
    /// How its results are read.
    pub(crate) kind: Kind,
}

/// How the results of a program are read.
pub(crate) enum Kind {
    /// One test: exit status 0.
    C,
    /// So many tests of Rust's libtest.
    Rust(u32),
}

impl Program {
    /// How many tests it has.
    pub(crate) fn tests(&self) -> u32 {
        match self.kind {
            Kind::C => 1,
            Kind::Rust(count) => count,
        }
    }
}

/// The Rust tests of files with `part` in their name, one program for each file. Each program says itself how many
/// tests it has: a static program of this target runs on the host too.
pub(crate) fn rust_programs(folder: &Path, part: &str) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    let binaries = project::guest_test_binaries(folder)?;
    for binary in binaries.into_iter().filter(|binary| binary.name.contains(part)) {
        let list = Command::new(&binary.path).args(["--list", "--format", "terse"]).output();
        let list = list.with_context(|| binary.path.display().to_string())?;
        ensure!(list.status.success(), "{} does not list its tests", binary.path.display());
        let count = libtest::listed(&String::from_utf8_lossy(&list.stdout));
        // A library without tests has a program all the same.
        if count > 0 {
            programs.push(Program { name: binary.name, path: binary.path, kind: Kind::Rust(count) });
        }
    }
    Ok(programs)
}

/// Builds each C test with `part` in its name and adds it to `programs`; one that does not build is a failed test.
pub(crate) fn c_programs(folder: &Path, part: &str, programs: &mut Vec<Program>) -> Vec<Report> {
    let output = project::target_folder().join("c-tests");
    let mut failures = Vec::new();
    for source in c_sources(&folder.join("c")) {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !name.contains(part) {
            continue;
        }
        let path = output.join(&name);
        match project::compile_c(&source, &path) {
            Ok(()) => programs.push(Program { name, path, kind: Kind::C }),
            Err(error) => failures.push(Report::broken(&name, format!("{error:#}"))),
        }
    }
    failures
}

fn c_sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten(); // no such folder: no such tests
    let mut sources: Vec<_> = entries.map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    sources
}
