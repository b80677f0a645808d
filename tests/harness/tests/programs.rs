//! What a program sees of the host: arguments, environment, files, standard streams; and what the host sees of it.

use harness::fixture::{Finished, finish, program};
use harness::machine::Machine;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// Runs a program of the fixtures with these arguments.
fn run(name: &str, arguments: &[&str]) -> Finished {
    finish(Machine::default().command(program(name)).args(arguments))
}

#[test]
fn the_exit_status_is_the_programs() {
    for status in [0, 1, 42, 124, 125, 126, 255] {
        let run = run("status", &[&status.to_string()]);
        assert_eq!((run.status, run.text(), run.stderr), (status, String::new(), String::new()));
    }
}

#[test]
fn arguments_arrive_as_they_were_given() {
    let awkward = [
        "",
        "two words",
        "line\nbreak\n",
        "'single' \"double\" `back` $HOME \\ * ?",
        "--",
        "--cpus",
        "-x",
        "ü",
    ];
    let mut command = Machine::default().command(program("arguments"));
    command.args(awkward).arg(OsStr::from_bytes(b"no text: \xff\xfe"));
    let mut expected = b"/arguments\0".to_vec();
    for argument in awkward {
        expected.extend([argument.as_bytes(), b"\0"].concat());
    }
    expected.extend(b"no text: \xff\xfe\0");
    assert_eq!(String::from_utf8_lossy(&finish(&mut command).stdout), String::from_utf8_lossy(&expected));
}

#[test]
fn the_environment_is_small_and_known() {
    let mut command = Machine::default().command(program("environment"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(
        ["HOME", "TALLY_PREBUILT", "CARGO_TARGET_DIR"]
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command.envs([
        ("TERM", "vt220"),
        ("RUST_BACKTRACE", "1"),
        ("RUST_TEST_THREADS", "3"),
        ("TALLY_SEED", "7"),
        ("TALLY_LONG", "1"),
        ("SECRET", "of the host"),
    ]);
    let text = finish(&mut command).text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines.join(" "),
        "HOME=/ PATH=/ RUST_BACKTRACE=1 RUST_TEST_THREADS=3 TALLY_LONG=1 TALLY_SEED=7 TERM=vt220"
    );
}

#[test]
fn virtual_time_is_told_to_the_program() {
    let run = finish(&mut Machine::deterministic().command(program("environment")));
    assert!(run.text().lines().any(|line| line == "TALLY_ICOUNT=1"), "{}", run.text());
}

#[test]
fn files_of_the_host_are_in_the_root_folder() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let contents = [("empty", vec![]), ("two words", b"words\n".to_vec()), ("large", noise(300_000))];
    let mut options = Vec::new();
    for (name, bytes) in &contents {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("temporary folder");
        options.extend(["--file".into(), path.into_os_string()]);
    }
    let options: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    let mut command = Machine::default().command_with(&options, program("copy"));
    let run = finish(command.args(["/empty", "/two words", "/large", "two words"]));
    let all = [b"words\n".as_slice(), &noise(300_000), b"words\n"].concat();
    assert!(run.stdout == all, "{} bytes came of {}; {}", run.stdout.len(), all.len(), run.stderr);
    assert_eq!(run.status, 0);
}

#[test]
fn standard_input_and_output_are_byte_exact() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let escapes = [0x10, 0x04, 0x10, 0x10, 0x04, 0x03, 0x0d, 0x0a, 0x10];
    for input in [b"".as_slice(), b"\n", b"no newline", &every_byte, &escapes.repeat(200), &noise(60_000)] {
        assert_copied(&Machine::default(), input);
    }
    assert_copied(&Machine::deterministic(), &every_byte);
}

fn assert_copied(machine: &Machine, input: &[u8]) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("input");
    std::fs::write(&path, input).expect("temporary folder");
    let stdin = File::open(&path).expect("just written");
    let run = finish(machine.command(program("copy")).stdin(stdin));
    let different = run.stdout.iter().zip(input).position(|(out, given)| out != given);
    assert!(
        run.stdout == input,
        "{} bytes of {}, first difference at {different:?}",
        run.stdout.len(),
        input.len()
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn a_program_is_found_from_any_folder() {
    let program = program("arguments");
    let folder = program.parent().expect("it lies in a folder");
    let mut command = Machine::default().command("./arguments");
    assert_eq!(finish(command.current_dir(folder)).text(), "/arguments\0");
    // Through a symbolic link to the script, too.
    let links = tempfile::tempdir().expect("temporary folder");
    let link = links.path().join("run it");
    std::os::unix::fs::symlink(harness::project::root().join("qemu-run.sh"), &link)
        .expect("temporary folder");
    let mut command = Command::new(link);
    command.args(["--accel=tcg", "--timeout=60"]).arg(&program).stdin(std::process::Stdio::null());
    assert_eq!(finish(&mut command).text(), "/arguments\0");
}

#[test]
fn options_take_their_value_in_both_forms() {
    let script = harness::project::root().join("qemu-run.sh");
    for options in [
        ["--accel", "tcg", "--timeout", "60", "--cpus", "1"].as_slice(),
        &["--accel=tcg", "--timeout=60.5", "--cpus=3", "--mem=128M"],
    ] {
        let mut command = Command::new(&script);
        command.args(options).arg(program("status")).arg("7").stdin(std::process::Stdio::null());
        assert_eq!(finish(&mut command).status, 7, "{options:?}");
    }
}

#[test]
fn the_kernels_log_stays_off_the_console_unless_wanted() {
    let quiet = run("status", &["0"]);
    assert_eq!(quiet.text(), "");
    let loud = finish(&mut Machine::default().command_with(&["--verbose".as_ref()], program("status")));
    assert!(loud.text().contains("boot: first user instruction at "), "{}", loud.text());
}

#[test]
fn strace_shows_the_calls() {
    let machine = Machine { append: "strace".to_owned(), ..Machine::default() };
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = folder.path().join("log");
    let run = finish(machine.command_with(&["--log".as_ref(), log.as_os_str()], program("status")).arg("5"));
    let text = std::fs::read_to_string(&log).expect("the log is kept");
    assert_eq!(run.status, 5);
    assert!(text.contains("exit_group(") && text.contains("set_tid_address("), "{text}");
}

/// The program printed on the AIX page of thread_cputime, as it stands.
#[test]
fn the_example_of_the_man_page_runs() {
    for tid in ["-1", "1"] {
        let run = run("cputime", &[tid]);
        let text = run.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((run.status, lines.len(), lines[0]), (0, 3, format!("tid = {tid}").as_str()), "{text}");
        for (line, label) in lines[1..].iter().zip(["U: ", "S: "]) {
            let time = line.strip_prefix(label).and_then(|rest| rest.strip_suffix(" nsecs"));
            let time: u64 = time.and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("{line}"));
            assert!((1..60_000_000_000).contains(&time), "{line}");
        }
    }
    let run = run("cputime", &["99999"]);
    assert!(
        run.stderr.contains("Error from thread_cputime: No such process")
            || run.text().contains("No such process")
    );
}

/// Bytes without a pattern, the same each time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn the_default_program_is_the_demonstration() {
    let mut command = Command::new(Path::new("./qemu-run.sh"));
    command.args(["--accel=tcg", "--timeout=60"]).current_dir(harness::project::root());
    let run = finish(command.stdin(std::process::Stdio::null()));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        ["by the clock", "billed", "difference"].iter().all(|word| run.text().contains(word)),
        "{}",
        run.text()
    );
}
