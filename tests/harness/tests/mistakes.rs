//! What people do wrong with the programs: each says what is wrong and what would be right.

use harness::fixture::session;
use harness::machine::Machine;

const PROGRAMS: [&str; 16] = [
    "bench",
    "burn",
    "callfuzz",
    "cputime",
    "demo",
    "loadgraph",
    "mpstat",
    "pingpong",
    "ps",
    "psrinfo",
    "psrset",
    "semhist",
    "semstat",
    "spin",
    "time",
    "uptime",
];

/// Runs the commands, of which `''` is an empty word, on two CPUs; what each said, its exit status last.
fn said(commands: &[&str]) -> Vec<Vec<String>> {
    let separated = commands.join(" , ");
    let words: Vec<&str> =
        separated.split_whitespace().map(|word| if word == "''" { "" } else { word }).collect();
    let machine = Machine { cpus: 2, ..Machine::deterministic() };
    let text = session(&machine, &PROGRAMS, &words).text();
    let blocks = text.split("$ ").skip(1);
    let said: Vec<_> = blocks.map(|block| block.lines().skip(1).map(str::to_owned).collect()).collect();
    assert_eq!(said.len(), commands.len(), "{text}");
    said
}

/// A command, and what is wrong with it.
type Mistake = (&'static str, &'static str);

/// Each of these command lines is refused with what is wrong, the usage, and status 2.
#[track_caller]
fn assert_refused(mistakes: &[Mistake]) {
    let said = said(&mistakes.iter().map(|(command, _)| *command).collect::<Vec<_>>());
    for ((command, problem), said) in mistakes.iter().zip(said) {
        let program = command.split_whitespace().next().unwrap_or_default();
        assert_eq!(said[0], format!("{program}: {problem}"), "{command}: {said:#?}");
        assert!(said[1].starts_with(&format!("usage: {program}")), "{command}: {said:#?}");
        assert_eq!(said.last().map(String::as_str), Some("status 2"), "{command}: {said:#?}");
    }
}

const NUMBER: &str = "a number from 0 to 2147483647 is wanted";

#[test]
fn psrset_refuses_what_it_cannot_read() {
    let number = |problem: &str| -> &'static str { format!("{problem}: {NUMBER}").leak() };
    assert_refused(&[
        ("psrset -c 0-2147483647", "invalid processor ID 0-2147483647: the last processor is 1"),
        ("psrset -p 1-2", "invalid processor ID 1-2: the last processor is 1"),
        ("psrset -a 1 3-2", "invalid processor ID 3-2: a range begins with the lower number"),
        ("psrset -r x-2", "invalid processor ID x-2: numbers from 0 to 2147483647 are wanted"),
        ("psrset -c +1", number("invalid processor ID +1")),
        ("psrset -c ''", number("invalid processor ID ''")),
        ("psrset +1", number("invalid processor set ID +1")),
        ("psrset -d 2147483648", number("invalid processor set ID 2147483648")),
        ("psrset -q +1", number("invalid process ID +1")),
        ("psrset -q 1/8-4", "invalid LWP list 1/8-4: a range begins with the lower number"),
        ("psrset -q 1/1,", "invalid LWP list 1/1,: numbers from 0 to 2147483647 are wanted"),
        ("psrset -b 1 1/+1", "invalid LWP list 1/+1: numbers from 0 to 2147483647 are wanted"),
        ("psrset -", "illegal option -"),
        ("psrset --", "illegal option --"),
        ("psrset --help", "illegal option --help"),
        ("psrset -e 7", "must specify an operand"),
        ("psrset -d", "must specify an operand"),
        ("psrset -b", "must specify a processor set ID"),
    ]);
}

#[test]
fn programs_about_load_refuse_what_they_do_not_know() {
    let interval = "whole seconds from 1 on are wanted";
    let with = |problem: &str, wanted: &str| -> &'static str { format!("{problem}: {wanted}").leak() };
    assert_refused(&[
        ("uptime x", "unexpected operand x"),
        ("uptime -w", "illegal option -w"),
        ("uptime --help", "illegal option --help"),
        ("psrinfo x", "invalid processor ID x: a number from 0 on is wanted"),
        ("psrinfo +1", "invalid processor ID +1: a number from 0 on is wanted"),
        ("psrinfo -p", "illegal option -p"),
        ("psrinfo -s", "must specify a processor ID"),
        ("psrinfo -s 0 1", "-s takes one processor ID only"),
        ("mpstat x", with("invalid interval x", interval)),
        ("mpstat 0", with("invalid interval 0", interval)),
        ("mpstat ''", with("invalid interval ''", interval)),
        ("mpstat -a +1", with("invalid interval +1", interval)),
        ("mpstat 1 0", "invalid count 0: a whole number from 1 on is wanted"),
        ("mpstat 1 2 3", "unexpected operand 3"),
        ("mpstat -q", "illegal option -q"),
        ("loadgraph x", with("invalid interval x", interval)),
        ("loadgraph 1 x", "invalid count x: a whole number from 1 on is wanted"),
        ("loadgraph -1", "illegal option -1"),
    ]);
}

#[test]
fn the_other_programs_refuse_what_they_do_not_know() {
    assert_refused(&[
        ("ps x", "unexpected operand x"),
        ("ps -e", "illegal option -e"),
        ("demo x", "unexpected operand x"),
        ("spin -x", "illegal option -x"),
        ("semstat 1.5", "invalid interval 1.5: whole seconds from 1 on are wanted"),
        ("semstat -x", "illegal option -x"),
        ("semhist -x", "illegal option -x"),
        ("semhist a b", "unexpected operand b"),
        ("semhist -t a b", "unexpected operand b"),
        ("time", "must specify a command"),
        ("time -p ps", "illegal option -p"),
        ("burn", "must specify seconds and a share"),
        ("burn x 50", "invalid number of seconds x: 0 or more are wanted"),
        ("burn inf 50", "invalid number of seconds inf: 0 or more are wanted"),
        ("burn 0 x 50", "unexpected operand 50"),
        ("burn 0 101", "invalid share 101: per cent from 0 to 100 are wanted"),
        ("burn 0 nan", "invalid share nan: per cent from 0 to 100 are wanted"),
        ("pingpong", "must specify how many rounds"),
        ("pingpong 0", "invalid number of rounds 0: a whole number from 1 to 4294967295 is wanted"),
        ("pingpong 1 0", "must specify two CPUs, or none"),
        ("pingpong 1 0 64", "invalid CPU 64: a number from 0 to 63 is wanted"),
        ("cputime x", "invalid TID x: a number from 1 on is wanted, or -1 for the caller"),
        ("cputime 1 2", "unexpected operand 2"),
        ("bench x", "no row `x`"),
        ("bench --list", "illegal option --list"),
        ("callfuzz 1", "must specify a seed and a count"),
        ("callfuzz 1 1 65", "invalid number of threads 65: 1 to 64 are wanted"),
    ]);
}

/// What is not there or cannot be done: the first line names it, the reason and what to do; the status is `status`.
#[track_caller]
fn assert_fails(steps: &[(&str, &[&str])]) {
    let said = said(&steps.iter().map(|(command, _)| *command).collect::<Vec<_>>());
    for ((command, expected), said) in steps.iter().zip(said) {
        assert_eq!(said, *expected, "{command}");
    }
}

#[test]
fn psrset_says_what_cannot_be_done_and_why() {
    let no_set = "Invalid argument (there is no processor set 9; psrset lists those there are)";
    let no_cpu = "Invalid argument (there is no processor 9; the last one is 1)";
    let empty = "Invalid argument (processor set 1 has no processors; psrset -a 1 processor_id adds one)";
    let line = |what: &str, why: &str| -> &'static str { format!("psrset: cannot {what}: {why}").leak() };
    assert_fails(&[
        ("psrset -c", &["created processor set 1"]),
        ("psrset -b 1 1", &[line("bind pid 1", empty), "status 1"]),
        ("psrset -b 1 1/1", &[line("bind lwpid 1/1", empty), "status 1"]),
        ("psrset -b 9 1", &[line("bind pid 1", no_set), "status 1"]),
        ("psrset -e 9 uptime", &[line("bind pid 6", no_set), "status 1"]),
        ("psrset -d 9", &[line("remove processor set 9", no_set), "status 1"]),
        ("psrset -i 9", &[line("get info for processor set 9", no_set), "status 1"]),
        ("psrset -a 9 1", &[line("assign processor 1", no_set), "status 1"]),
        ("psrset -a 1 9", &[line("assign processor 9", no_cpu), "status 1"]),
        ("psrset -p 9", &[line("query processor 9", no_cpu), "status 1"]),
        (
            "psrset -a 1 0 1",
            &[
                "processor 0: was not assigned, now 1",
                "psrset: cannot assign processor 1: Device busy (it is the last one in no set, and one has to \
                 stay; psrset -r frees others)",
                "status 1",
            ],
        ),
        ("psrset -e 1 absent", &["psrset: cannot exec absent: no such file or folder", "status 1"]),
        ("psrset -q 77", &[line("query pid 77", "No such process"), "status 1"]),
        ("psrset -q 77/1", &[line("query pid 77", "No such process"), "status 1"]),
        (
            "psrset -q 1/1,99,90-",
            &[
                "psrset: cannot query lwpid 1/99: process 1 has no such LWP",
                "psrset: cannot query lwpid 1/90-: process 1 has no such LWP",
                "lwp id 1/1: not bound",
                "status 1",
            ],
        ),
        ("psrset -b 1 1", &["process id 1: was not bound, now 1"]),
        (
            "psrset -r 0",
            &[
                "psrset: cannot assign processor 0: Device busy (it is the last one of set 1, to which LWPs \
                 are bound; psrset -u unbinds them)",
                "status 1",
            ],
        ),
    ]);
}

#[test]
fn the_others_say_what_cannot_be_done_and_why() {
    assert_fails(&[
        ("psrinfo 9", &["psrinfo: processor 9: Invalid argument (there are 2, from 0 on)", "status 1"]),
        ("time absent", &["time: cannot run absent: no such file or folder", "status 127"]),
        ("time ''", &["time: cannot run '': no such file or folder", "status 127"]),
        (
            "pingpong 1 0 9",
            &["pingpong: cannot run on CPU 9: invalid argument (EINVAL); psrinfo lists the CPUs", "status 1"],
        ),
        ("cputime 77", &["cputime: LWP 77: no such process or LWP (ESRCH)", "status 1"]),
        ("semhist x", &["semhist: there is no arena x; without a name all are shown", "status 1"]),
    ]);
}

/// Arguments need not be text: they are refused, or handed on as they are.
#[test]
fn bytes_that_are_no_text_are_no_surprise() {
    use harness::fixture::{finish, program, rust_program};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let odd = OsStr::from_bytes(b"\xff\xfe");
    let run = finish(Machine::deterministic().command(rust_program("psrset")).arg(odd));
    assert!(run.text().starts_with("psrset: invalid processor set ID "), "{}", run.text());
    assert_eq!(run.status, 2);
    let arguments = program("arguments");
    let file = [OsStr::new("--file"), arguments.as_os_str()];
    let run =
        finish(Machine::deterministic().command_with(&file, rust_program("time")).arg("arguments").arg(odd));
    assert!(run.stdout.starts_with(b"arguments\0\xff\xfe\0"), "{}", run.text());
}
