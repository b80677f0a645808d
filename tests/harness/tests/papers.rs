//! Every command in README.md and docs/ works: blocks of `sh` are run as scripts, and in blocks of `console` the lines
//! after a `$`, each block in a shell of its own that starts in the project's folder. What would run this test again,
//! or for long, is not run but must be a target of the Makefile.

use cargo_metadata::MetadataCommand;
use harness::fixture::finish;
use harness::project;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Targets of make that a paper may name and this test does not run.
const NOT_RUN: [&str; 10] =
    ["build", "test", "test-long", "miri", "bench", "gdb", "check", "new-test", "clean", "setup"];

/// How long the commands of one block may take, for `timeout`.
const LIMIT: &str = "300";

fn papers() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(project::root().join("docs")).into_iter().flatten().flatten();
    let mut papers: Vec<PathBuf> = docs.map(|entry| entry.path()).collect();
    papers.push(project::root().join("README.md"));
    papers.retain(|path| path.extension().is_some_and(|extension| extension == "md") && path.exists());
    papers
}

/// The commands of each block.
fn scripts(text: &str) -> Vec<Vec<&str>> {
    let mut scripts = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let language = line.trim_start().strip_prefix("```").unwrap_or("");
        let block: Vec<&str> = match line.trim_start().starts_with("```") {
            true => lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect(),
            false => continue,
        };
        match language {
            "sh" => scripts.push(block),
            "console" => scripts.push(block.iter().filter_map(|line| line.strip_prefix("$ ")).collect()),
            _ => {}
        }
    }
    scripts
}

fn is_run(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match (words.next(), words.next()) {
        (Some("make"), Some(target)) => {
            let makefile = std::fs::read_to_string(project::root().join("Makefile")).expect("the Makefile");
            let known = makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
            assert!(known, "the Makefile has no target {target}: {command}");
            !NOT_RUN.contains(&target)
        }
        (Some("git"), _) => false,
        _ => true,
    }
}

fn run(paper: &Path, commands: &[&str]) -> Result<(), String> {
    let script: Vec<&str> = commands.iter().copied().filter(|command| is_run(command)).collect();
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut bash = Command::new("timeout");
    bash.args([LIMIT, "bash", "-eo", "pipefail", "-c", &script.join("\n")]).env("TMPDIR", scratch.path());
    let output =
        bash.current_dir(project::root()).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Err(format!("{}: {:?}: {}\n{said}", paper.display(), script, output.status))
}

#[test]
fn every_command_works() {
    // Several blocks use programs that an earlier one has the reader build.
    let built = Command::new("make").arg("build").current_dir(project::root()).status();
    assert!(built.is_ok_and(|status| status.success()), "make build");
    let mut commands = 0;
    let mut failures = Vec::new();
    for paper in papers() {
        let text = std::fs::read_to_string(&paper).expect("a text");
        for script in scripts(&text) {
            commands += script.len();
            failures.extend(run(&paper, &script).err());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(commands > 0, "no command found");
}

/// The targets of links to files of the project, without what follows a `#`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

#[test]
fn every_link_leads_somewhere() {
    for paper in papers() {
        let text = std::fs::read_to_string(&paper).expect("a text");
        let folder = paper.parent().expect("a paper lies in a folder");
        for link in links(&text) {
            assert!(folder.join(link).exists(), "{}: {link}", paper.display());
        }
    }
}

/// The crates of others that the packages name, of every kind.
fn dependencies() -> BTreeSet<String> {
    let metadata =
        MetadataCommand::new().current_dir(project::root()).no_deps().exec().expect("cargo metadata");
    let all = metadata.packages.iter().flat_map(|package| &package.dependencies);
    all.filter(|dependency| dependency.path.is_none()).map(|dependency| dependency.name.clone()).collect()
}

#[test]
fn every_dependency_has_its_line() {
    let text = std::fs::read_to_string(project::root().join("docs/dependencies.md")).expect("a text");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let explained: BTreeSet<String> = rows.map(|(name, _)| name.to_owned()).collect();
    assert_eq!(explained, dependencies());
}

/// The figures of a table: what stands in the first column between `` ` ``, and the number in the third.
fn figures(text: &str) -> impl Iterator<Item = (&str, f64)> {
    text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
        let number: String = rest.split(" | ").nth(1)?.split_whitespace().collect();
        Some((name, number.parse().ok()?))
    })
}

/// Measures again; what a change moves by a few instructions need not be written down at once.
#[test]
fn figures_are_what_bench_measures() {
    const TOLERANCE: f64 = 0.15;
    let readme = std::fs::read_to_string(project::root().join("README.md")).expect("a text");
    let bench = finish(Command::new(env!("CARGO_BIN_EXE_harness")).arg("bench"));
    assert_eq!(bench.status, 0, "{}", bench.stderr);
    let text = bench.text();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    // What is about two CPUs at the same time varies with the host, so no figure is written down.
    let rows: Vec<_> = rows.into_iter().filter(|row| !["ns", "us", "times"].contains(&row[3])).collect();
    let mut compared = 0;
    for (name, written) in figures(&readme) {
        let row = rows.iter().find(|row| row[1] == name).unwrap_or_else(|| panic!("no row {name}:\n{text}"));
        let measured: f64 = row[2].parse().expect("a number");
        assert!(
            (measured / written - 1.0).abs() < TOLERANCE,
            "{name}: {written} is written, {measured} measured"
        );
        compared += 1;
    }
    assert_eq!(compared, rows.len(), "rows of bench that the README does not have, or the other way round");
}

#[test]
fn blocks_are_told_apart() {
    let text =
        "a\n```sh\nls -l\nmake test\n```\n```rust\nlet x;\n```\n```console\n$ true\noutput\n$ false\n```\n";
    assert_eq!(scripts(text), [vec!["ls -l", "make test"], vec!["true", "false"]]);
    let text = "[a](b/c.md#d) [e](http://f) [g](#h)";
    assert_eq!(links(text).collect::<Vec<_>>(), ["b/c.md"]);
    assert_eq!(figures("| `a` | b | 1 000 | c |\n| `d` | `e` |").collect::<Vec<_>>(), [("a", 1000.0)]);
    assert!(is_run("make run") && !is_run("make test TEST=x") && is_run("./qemu-run.sh -- x"));
}
