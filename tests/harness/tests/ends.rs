//! Every way in which a run can end: each has its exit status, says why, and leaves nothing behind.

use harness::fixture::{Finished, c_program, finish, path_with, program};
use harness::machine::Machine;
use harness::project;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs a command with a folder of its own for temporary files, which must be empty afterwards.
fn finish_cleanly(command: &mut Command) -> Finished {
    let temporary = tempfile::tempdir().expect("temporary folder");
    let finished = finish(command.env("TMPDIR", temporary.path()));
    assert_left_empty(&temporary);
    finished
}

fn assert_left_empty(temporary: &TempDir) {
    let left: Vec<_> = std::fs::read_dir(temporary.path()).expect("temporary folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let machine = Machine { timeout: Duration::from_secs(3), ..Machine::default() };
    let started = Instant::now();
    let run = finish_cleanly(&mut machine.command(program("forever")));
    assert_eq!((run.status, run.text().as_str()), (124, "running\n"), "{}", run.stderr);
    assert!(run.stderr.starts_with("qemu-run.sh: no end after 3.0 s\n"), "{}", run.stderr);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_panic_names_functions_files_and_lines() {
    let machine = Machine { append: "panic-test".to_owned(), ..Machine::default() };
    let run = finish_cleanly(&mut machine.command(program("forever")));
    assert_eq!(run.status, 125, "{}", run.stderr);
    let mut lines = run.stderr.lines();
    assert_eq!(lines.next(), Some("qemu-run.sh: the kernel panicked"));
    assert!(lines.next().is_some_and(|line| line.starts_with("panic: ")), "{}", run.stderr);
    let named = |line: &str| line.trim_start().starts_with("at 0x") && line.contains(" (kernel/src/main.rs:");
    assert!(lines.any(named), "{}", run.stderr);
}

#[test]
fn a_kernel_stack_that_overflows_is_found_at_once() {
    for debug_kernel in [false, true] {
        let machine = Machine { append: "overflow-test".to_owned(), debug_kernel, ..Machine::default() };
        let run = finish_cleanly(&mut machine.command(program("forever")));
        assert_eq!(run.status, 125, "{}", run.stderr);
        let said = run.stderr.lines().nth(1).unwrap_or_default();
        assert!(said.starts_with("panic: double fault (a kernel stack overflowed?)"), "{}", run.stderr);
    }
}

/// The program `fault` knows what it can do wrong, and the signal for each; it says so on the host, too.
fn faults() -> Vec<(String, i32)> {
    let list = finish(Command::new(c_program("fault")).arg("list")).text();
    let parse = |line: &str| {
        line.split_once(' ').and_then(|(kind, signal)| Some((kind.to_owned(), signal.parse().ok()?)))
    };
    let faults: Vec<_> = list.lines().filter_map(parse).collect();
    assert!(faults.len() > 10 && faults.len() == list.lines().count(), "{list}");
    faults
}

#[test]
fn every_fault_ends_the_program_by_its_signal() {
    let checked = Machine { debug_kernel: true, model: "qemu64", ..Machine::default() };
    for machine in [Machine::default(), checked] {
        for (kind, signal) in faults() {
            let run = finish_cleanly(machine.command(c_program("fault")).arg(&kind));
            let said = format!("{kind} on {}: {}{}", machine.model, run.text(), run.stderr);
            assert_eq!(run.status, 128 + signal, "{said}");
            assert!(
                run.text().starts_with("tally: fault (pid 1, LWP 1): ") && run.text().lines().count() == 1,
                "not one clear line: {said}"
            );
        }
    }
}

#[test]
fn a_file_that_the_kernel_refuses_is_no_success() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let cut = folder.path().join("cut");
    let whole = std::fs::read(program("status")).expect("just built");
    std::fs::write(&cut, &whole[..64]).expect("temporary folder");
    let run = finish_cleanly(&mut Machine::default().command(&cut));
    assert!(![0, 124, 125].contains(&run.status), "{}: {}{}", run.status, run.text(), run.stderr);
}

#[test]
fn every_mistake_is_one_line_and_status_2() {
    let status = program("status");
    let good = status.to_str().expect("a plain path");
    let text = project::root().join("Cargo.toml");
    let text = text.to_str().expect("a plain path");
    let mistakes: &[(&[&str], &str)] = &[
        (&["--bogus", good], "--bogus"),
        (&["-c", good], "-c"),
        (&["--cpus"], "--cpus"),
        (&["--cpus", "0", good], "--cpus"),
        (&["--cpus=two", good], "two"),
        (&["--mem=much", good], "much"),
        (&["--timeout=-1", good], "-1"),
        (&["--accel=xen", good], "xen"),
        (&["--icount", "--accel=kvm", good], "--icount"),
        (&["/no/such/program"], "/no/such/program"),
        (&["--file", "/no/such/file", good], "/no/such/file"),
        (&["--file", good, good], "/status"),
        (&["/"], "/"),
        (&[text], "not an ELF file"),
        (&["/bin/sh"], "dynamically linked"),
    ];
    for (arguments, named) in mistakes {
        let mut command = Command::new(project::root().join("qemu-run.sh"));
        let run = finish_cleanly(command.args(*arguments).stdin(Stdio::null()));
        assert_eq!((run.status, run.text().as_str()), (2, ""), "{arguments:?}: {}", run.stderr);
        let one_line = run.stderr.starts_with("qemu-run.sh: ") && run.stderr.lines().count() == 1;
        assert!(one_line && run.stderr.contains(named), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn without_qemu_the_status_is_126() {
    let path = path_with(&["bash", "env", "readlink", "dirname"]);
    let mut command = Machine::default().command(program("status"));
    let run = finish_cleanly(command.env("PATH", path.path()).env("TALLY_PREBUILT", "1"));
    assert_eq!(run.status, 126, "{}", run.stderr);
    assert!(run.stderr.contains("qemu-system-x86_64 not found"), "{}", run.stderr);
}

#[test]
fn what_qemu_refuses_is_126_in_its_own_words() {
    let machine = Machine { model: "pentium9", ..Machine::default() };
    let run = finish_cleanly(&mut machine.command(program("status")));
    assert_eq!(run.status, 126, "{}", run.stderr);
    assert!(run.stderr.contains("pentium9"), "{}", run.stderr);
}

/// A run that has said its first words, and QEMU's process.
fn start_forever(temporary: &TempDir) -> (Child, String) {
    let mut command = Machine::default().command(program("forever"));
    let mut child =
        command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).spawn().expect("qemu-run.sh");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a pipe");
    assert_eq!(line, "running\n");
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let qemu = std::fs::read_to_string(children).expect("Linux lists children").trim().to_owned();
    assert!(is_alive(&qemu), "no QEMU: {qemu:?}");
    (child, qemu)
}

fn is_alive(pid: &str) -> bool {
    // One that has ended and waits to be collected has no command line any more.
    std::fs::read(Path::new("/proc").join(pid).join("cmdline")).is_ok_and(|line| !line.is_empty())
}

fn assert_ends(pid: &str) {
    let started = Instant::now();
    while is_alive(pid) {
        assert!(started.elapsed() < Duration::from_secs(10), "QEMU lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_signal_ends_qemu_and_is_passed_on() {
    for (name, signal) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let temporary = tempfile::tempdir().expect("temporary folder");
        let (mut child, qemu) = start_forever(&temporary);
        let kill = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        assert_eq!(child.wait().expect("it ends").signal(), Some(signal));
        assert_ends(&qemu);
        assert_left_empty(&temporary);
    }
}

#[test]
fn qemu_does_not_outlive_a_runner_that_is_killed() {
    let temporary = tempfile::tempdir().expect("temporary folder");
    let (mut child, qemu) = start_forever(&temporary);
    child.kill().expect("it lives");
    child.wait().expect("it ends");
    assert_ends(&qemu);
}

#[test]
fn nobody_listening_ends_the_run() {
    let temporary = tempfile::tempdir().expect("temporary folder");
    let mut command = Machine::default().command(program("copy"));
    command.env("TMPDIR", temporary.path()).stdin(File::open("/dev/zero").expect("Linux"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("qemu-run.sh");
    let mut first = [1; 100];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("a pipe");
    assert_eq!(first, [0; 100]);
    assert_eq!(child.wait().expect("it ends").signal(), Some(13));
    assert_left_empty(&temporary);
}
