//! `bench [ROW…]`: what the kernel's paths cost, in guest instructions. Without arguments: every row that can run.
//!
//! Most rows are meant for `--icount` and one CPU, where the TSC advances by one for each instruction, so that every figure repeats
//! exactly. A row is measured in 40 batches of 100 operations with `rdtsc` around each batch, in loops of
//! known instructions; what the same loop costs without the operation is taken off. Printed is the minimum:
//! `bench NAME NUMBER UNIT`. Where the median differs from it by half an instruction or more for one operation (by a
//! four-hundredth, if that is more: the load averages are brought up to date about every half millisecond), that is said on stderr and the program exits with 1.
//!
//! The rows in `ns` and in `times` are about two CPUs at the same time, so they want a machine without `--icount`, and
//! vary with what else the host does.
//!
//! Instruction counts compare the lengths of software paths, not the cost on hardware: `syscall` and `rdtsc` count as
//! one instruction, each round of a `rep` as one.

mod calls;
mod cpus;
mod crowd;
mod instruments;
mod lives;
mod load;
mod measure;
mod memory;
mod pages;
mod semaphore;
mod split;
mod switches;
mod timer;

use std::process::ExitCode;

use measure::Outcome;
use programs::usage;

/// A row's name and what measures it.
type Row = (&'static str, fn() -> Outcome);

/// The rows, in the order of printing.
const ROWS: &[Row] = &[
    ("null_syscall", calls::null_syscall),
    ("lwp_info", calls::lwp_info),
    ("thread_cputime_other", calls::thread_cputime_other),
    ("clock_monotonic", calls::clock_monotonic),
    ("timer_interrupt", timer::interrupt),
    ("page_fault_write", pages::write_fault),
    ("yield_switch", switches::yield_switch),
    ("yield_switch_10000", switches::yield_switch_in_crowd),
    ("futex_pingpong", switches::futex_pingpong),
    ("futex_pingpong_musl", switches::futex_pingpong_musl),
    ("lwp_create_join", lives::lwp),
    ("pthread_create_join", lives::pthread),
    ("fork_exit_wait", lives::process),
    ("exec_exit", lives::program),
    ("lwp_memory", memory::of_blocked_lwp),
    ("pset_getloadavg", load::getloadavg),
    ("loadavg_error", load::worst_error),
    ("sema_pair", instruments::pair),
    ("sema_pair_metered", instruments::pair_metered),
    ("sema_pair_traced", instruments::pair_traced),
    ("sema_pingpong_metered", instruments::pingpong_metered),
    ("usctlsema_fetch", instruments::fetch),
    ("split_error_max", split::worst_error),
    ("thread_cputime_running", cpus::thread_cputime_running),
    ("wakeup_latency", cpus::wakeup_latency),
    ("null_syscall_2cpu", cpus::null_syscall),
    ("sema_pingpong_2cpu", instruments::pingpong_2cpu),
    ("pset_bind_running", cpus::pset_bind_running),
];

fn main() -> ExitCode {
    let names: Vec<&str> = ROWS.iter().map(|&(name, _)| name).collect();
    usage::run("bench", &format!("bench [ROW ...], where ROW is one of: {}", names.join(" ")), |wanted| {
        match wanted.iter().find(|name| !names.contains(&name.as_str())) {
            None => Ok(measure(wanted)),
            Some(option) if option.starts_with('-') => Err(usage::illegal_option(option)),
            Some(name) => Err(format!("no row `{name}`")),
        }
    })
}

fn measure(wanted: &[String]) -> ExitCode {
    let is_wanted = |row: &str| wanted.is_empty() || wanted.iter().any(|name| name == row);
    let mut all_good = true;
    for (name, run) in ROWS.iter().filter(|(row, _)| is_wanted(row)) {
        all_good &= report(name, run(), !wanted.is_empty());
    }
    if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a row; whether it is one to be trusted. A row that cannot run is an error only where it was asked for.
fn report(name: &str, outcome: Outcome, asked_for: bool) -> bool {
    match outcome {
        Ok(figure) => {
            println!("bench {name} {} {}", figure.minimum, figure.unit);
            if !figure.is_steady() {
                eprintln!("bench: {name}: minimum {}, median {}: not exact", figure.minimum, figure.median);
            }
            figure.is_steady()
        }
        Err(reason) => {
            eprintln!("bench: {name}: left out: {reason}");
            !asked_for
        }
    }
}
