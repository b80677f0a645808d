//! `psrinfo`: which processors there are, and since when; options and messages are those of illumos' `psrinfo(8)`.

use programs::model::{Date, all_cpus, words};
use programs::usage;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use userlib::cpu::{self, CpuId, CpuInfo};

const USAGE: &str = "psrinfo [-v] [processor_id ...]\n       psrinfo -s processor_id";

/// How a processor is shown.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Verbose,
    /// 1 if it is on-line.
    Silent,
}

fn main() -> ExitCode {
    usage::run("psrinfo", USAGE, |arguments| {
        let (form, operands) = match arguments.split_first() {
            Some((option, operands)) if option == "-v" => (Form::Verbose, operands),
            Some((option, operands)) if option == "-s" => (Form::Silent, operands),
            _ => (Form::Plain, arguments),
        };
        let numbers: Result<Vec<i32>, _> = operands.iter().map(|operand| cpu_number(operand)).collect();
        match (form, numbers?) {
            (Form::Silent, numbers) if numbers.is_empty() => Err("must specify a processor ID".into()),
            (Form::Silent, _) if operands.len() > 1 => Err("-s takes one processor ID only".into()),
            (form, numbers) => Ok(report(form, numbers)),
        }
    })
}

fn cpu_number(word: &str) -> Result<i32, String> {
    usage::operand("processor ID", word, "a number from 0 on is wanted", usage::number)
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
                let count = all_cpus().len();
                eprintln!("psrinfo: processor {cpu}: {} (there are {count}, from 0 on)", words(errno));
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
