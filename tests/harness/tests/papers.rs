//! Every command in README.md and docs/ works: blocks of `sh` are run as scripts, and in blocks of `console` the lines
//! after a `$`. What would run this test again, or for long, is not run but must be a target of the Makefile.

use harness::project;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Targets of make that a paper may name and this test does not run.
const NOT_RUN: [&str; 9] =
    ["build", "test", "test-long", "bench", "gdb", "check", "new-test", "clean", "setup"];

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
        (Some("git" | "cd"), _) => false,
        _ => true,
    }
}

fn run(paper: &Path, commands: &[&str]) -> Result<(), String> {
    let script: Vec<&str> = commands.iter().copied().filter(|command| is_run(command)).collect();
    let mut bash = Command::new("timeout");
    bash.args([LIMIT, "bash", "-eo", "pipefail", "-c", &script.join("\n")]);
    let output =
        bash.current_dir(project::root()).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {:?}: {}\n{said}", paper.display(), script, output.status))
}

#[test]
fn every_command_works() {
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

#[test]
fn blocks_are_told_apart() {
    let text =
        "a\n```sh\nls -l\nmake test\n```\n```rust\nlet x;\n```\n```console\n$ true\noutput\n$ false\n```\n";
    assert_eq!(scripts(text), [vec!["ls -l", "make test"], vec!["true", "false"]]);
    assert!(is_run("make run") && !is_run("make test TEST=x") && is_run("./qemu-run.sh -- x"));
}
