//! The programs about processor sets and load, as one uses them: what they print, and how they end.

use harness::fixture::{self, Finished, finish, program};
use harness::machine::Machine;

const PROGRAMS: [&str; 7] = ["psrset", "psrinfo", "uptime", "mpstat", "loadgraph", "burn", "pingpong"];

/// Runs commands, which are separated by commas, on a machine of four CPUs in virtual time.
fn session(append: &str, commands: &str) -> Finished {
    let machine = Machine { cpus: 4, append: append.to_owned(), ..Machine::deterministic() };
    fixture::session(&machine, &PROGRAMS, &commands.split_whitespace().collect::<Vec<_>>())
}

#[track_caller]
fn assert_session(commands: &str, expected: &[&str]) {
    let run = session("", commands);
    assert_eq!(run.text().lines().collect::<Vec<_>>(), expected, "{}", run.stderr);
}

#[test]
fn psrset_makes_fills_shows_and_destroys_sets() {
    assert_session(
        "psrset , psrset -c , psrset -c 2-3 , psrset , psrset -p , psrset -p 0 3 , psrset -a 1 3 , psrset -r 2 , \
         psrset -i 2 1 , psrset -d 1 2 , psrset",
        &[
            "$ psrset",
            "$ psrset -c",
            "created processor set 1",
            "$ psrset -c 2-3",
            "created processor set 2",
            "processor 2: was not assigned, now 2",
            "processor 3: was not assigned, now 2",
            "$ psrset",
            "user processor set 1: empty",
            "user processor set 2: processors 2 3",
            "$ psrset -p",
            "processor 2: 2",
            "processor 3: 2",
            "$ psrset -p 0 3",
            "processor 0: not assigned",
            "processor 3: 2",
            "$ psrset -a 1 3",
            "processor 3: was 2, now 1",
            "$ psrset -r 2",
            "processor 2: was 2, now not assigned",
            "$ psrset -i 2 1",
            "user processor set 2: empty",
            "user processor set 1: processor 3",
            "$ psrset -d 1 2",
            "removed processor set 1",
            "removed processor set 2",
            "$ psrset",
        ],
    );
}

#[test]
fn psrset_binds_processes_and_lwps() {
    assert_session(
        "psrset -c 1 , psrset -q 1 , psrset -b 1 1 , psrset -q , psrset -q 1/1 , psrset -u 1/1- , \
         psrset -e 1 psrset -q 1 , psrset -q 1",
        &[
            "$ psrset -c 1",
            "created processor set 1",
            "processor 1: was not assigned, now 1",
            "$ psrset -q 1",
            "process id 1: not bound",
            "$ psrset -b 1 1",
            "process id 1: was not bound, now 1",
            "$ psrset -q",
            "process id 1: 1",
            "process id 5: 1", // itself, a child of the one that was bound
            "$ psrset -q 1/1",
            "lwp id 1/1: 1",
            "$ psrset -u 1/1-",
            "lwp id 1/1: was 1, now not bound",
            "$ psrset -e 1 psrset -q 1",
            "process id 1: not bound",
            "$ psrset -q 1",
            "process id 1: not bound",
        ],
    );
}

#[test]
fn psrinfo_knows_every_processor() {
    let run = session("", "psrinfo , psrinfo -s 3 , psrinfo -v 1");
    let text = run.text();
    let lines: Vec<&str> = text.lines().collect();
    for (cpu, line) in lines[1..5].iter().enumerate() {
        let since = line.strip_prefix(&format!("{cpu}\ton-line   since ")).expect("a line for each CPU");
        assert!(matches!(since, "01/01/2026 00:00:00" | "12/31/2025 23:59:59"), "{since}");
    }
    assert_eq!(lines[5..7], ["$ psrinfo -s 3", "1"]);
    assert!(lines[8].starts_with("Status of virtual processor 1 as of: 01/01/2026 00:00:0"), "{}", lines[8]);
    assert_eq!(lines[10], "  The x86-64 processor's time-stamp counter runs at 1000 MHz.");
}

/// Spinners in a set for 60 s of the averages' clock, which runs a hundred times as fast: n (1 - 1/e), to four digits.
#[test]
fn sixty_seconds_of_load_are_known_to_four_digits() {
    for spinners in [1.0, 3.0] {
        let machine = Machine { cpus: 2, append: "loadavg-scale=100".to_owned(), ..Machine::deterministic() };
        let run = finish(machine.command(program("step")).arg(spinners.to_string()));
        let average: f64 =
            run.text().trim().parse().unwrap_or_else(|_| panic!("{}: {}", run.status, run.stderr));
        assert!((average / spinners - 1.0).abs() <= 1e-4, "{average} for {spinners}");
    }
}

/// What LWPs do in a set, `mpstat` shows there, and `uptime` for all.
#[test]
fn load_is_seen_by_all_who_show_it() {
    let commands = "psrset -c 1-3 , + psrset -e 1 burn 1000 100 , + psrset -e 1 burn 1000 100 , mpstat -p 1 2 , \
                    loadgraph 3 1 , mpstat -a , uptime";
    let run = session("loadavg-scale=1000", commands);
    let text = run.text();
    let lines: Vec<&str> = text.lines().collect();
    let row = |start: &str| lines.iter().rfind(|line| line.starts_with(start)).copied().unwrap_or_default();
    let columns = |row: &str| row.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    // The last table is of a second in which two CPUs of the set were busy, and CPU 0 was idle.
    let tables: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with("CPU minf")).collect();
    let second = &lines[tables[1] + 1..tables[1] + 5];
    let count = |set: &str, is_it: fn(u32) -> bool| {
        let rows = second.iter().map(|row| columns(row)).filter(|row| row[16] == set);
        rows.filter(|row| row[15].parse().is_ok_and(is_it)).count()
    };
    assert_eq!(count("1", |idle| idle <= 5), 2, "{text}");
    assert_eq!((count("1", |idle| idle >= 80), count("-1", |idle| idle >= 80)), (1, 1), "{text}");
    // Two for 1000 s and more of this clock; the set holds nobody else.
    assert!(text.contains("\ndefault set, 1 CPU: 1 min "), "{text}");
    assert!(text.contains("\nset 1, 3 CPUs: 1 min 2.00  5 min "), "{text}");
    let set = columns(row("  1 "));
    assert_eq!(set.last().map(String::as_str), Some("3"), "three CPUs in the set: {text}");
    assert!(row("12:00am").starts_with("12:00am  up  1 user,  load average: "), "{text}");
}

/// Sets without CPUs have a line of zeros, in their place, and what has more digits than its column keeps its space.
#[test]
fn mpstat_shows_empty_sets_and_large_figures() {
    let commands = "psrset -c , psrset -c 3 , psrset -c , + pingpong 4000000000 , mpstat -a 1 2";
    let run = session("", commands);
    let text = run.text();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let tables: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].first() == Some(&"SET")).collect();
    assert_eq!(tables.len(), 2, "{text}");
    for first in tables {
        let sets: Vec<&[&str]> = rows[first + 1..first + 5].iter().map(Vec::as_slice).collect();
        assert!(sets.iter().all(|row| row.len() == 17), "{text}");
        let ends = sets.iter().map(|row| (row[0], row[16])).collect::<Vec<_>>();
        assert_eq!(ends, [("-1", "3"), ("1", "0"), ("2", "1"), ("3", "0")], "{text}");
        assert!([1, 3].iter().all(|&set| sets[set][1..].iter().all(|&figure| figure == "0")), "{text}");
    }
    let default = text.lines().rfind(|line| line.starts_with(" -1 ")).expect("the default set");
    let calls = default.split_whitespace().nth(11).expect("a column");
    assert!(calls.len() >= 6, "more calls than their column is wide: {text}");
    let columns = text.lines().rfind(|line| line.starts_with("SET ")).expect("a header");
    assert_eq!(default.len(), columns.len(), "the columns behind stand where they should: {text}");
}
