//! `psrinfo`: which processors there are, and since when; options and messages are those of illumos' `psrinfo(8)`.

use programs::model::{Date, all_cpus, words};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use userlib::cpu::{self, CpuId, CpuInfo};

const USAGE: &str = "usage:\n\tpsrinfo [-v] [processor_id ...]\n\tpsrinfo -s processor_id";

/// How a processor is shown.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Verbose,
    /// 1 if it is on-line.
    Silent,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (form, operands) = match arguments.first().map(String::as_str) {
        Some("-v") => (Form::Verbose, &arguments[1..]),
        Some("-s") => (Form::Silent, &arguments[1..]),
        _ => (Form::Plain, &arguments[..]),
    };
    let numbers: Result<Vec<i32>, _> = operands.iter().map(|operand| operand.parse()).collect();
    match numbers {
        Ok(numbers) if form != Form::Silent || numbers.len() == 1 => report(form, numbers),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn report(form: Form, numbers: Vec<i32>) -> ExitCode {
    let cpus = match numbers.is_empty() {
        true => all_cpus(),
        false => numbers.into_iter().map(CpuId::from_raw).collect(),
    };
    let mut all_well = true;
    for cpu in cpus {
        match cpu::info(cpu) {
            Ok(info) => show(form, cpu, &info),
            Err(errno) => {
                eprintln!("psrinfo: processor {cpu}: {}", words(errno));
                all_well = false;
            }
        }
    }
    if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(form: Form, cpu: CpuId, info: &CpuInfo) {
    let since = Date::from_unix(Duration::from_nanos(info.since));
    match form {
        Form::Plain => println!("{cpu}\ton-line   since {since}"),
        Form::Silent => println!("{}", u8::from(info.state == ON_LINE)),
        Form::Verbose => {
            println!("Status of virtual processor {cpu} as of: {}", Date::now());
            println!("  on-line since {since}.");
            println!("  The x86-64 processor's time-stamp counter runs at {} MHz.", megahertz());
        }
    }
}

/// The only state there is.
const ON_LINE: i32 = 1;

/// How fast the time-stamp counter runs, by a tenth of a second of it.
fn megahertz() -> u64 {
    // SAFETY: every processor that this runs on has the counter, and the kernel leaves it to programs.
    let ticks = || unsafe { std::arch::x86_64::_rdtsc() };
    let (begin, first) = (Instant::now(), ticks());
    std::thread::sleep(Duration::from_millis(100));
    let (time, passed) = (begin.elapsed(), ticks() - first);
    (u128::from(passed) * 1000 / time.as_nanos().max(1)) as u64
}
