//! `time COMMAND [ARGUMENT…]`: runs a program of the root folder, and says how long it took and what it used, with the
//! processes that it waited for, to the microsecond.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use programs::model::words_of;
use programs::usage;
use userlib::lwp::CpuTime;
use userlib::process::proc_times;

fn main() -> ExitCode {
    usage::run("time", "time COMMAND [ARGUMENT...]", |arguments| match arguments.first() {
        None => Err("must specify a command".into()),
        Some(option) if option.starts_with('-') => Err(usage::illegal_option(option)),
        Some(program) => Ok(measure(program)),
    })
}

/// Runs the command with its arguments as they were given, which need not be text.
fn measure(program: &str) -> ExitCode {
    let (start, before) = (Instant::now(), children());
    let mut words = std::env::args_os().skip(1);
    let status = match Command::new(words.next().unwrap_or_default()).args(words).status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("time: cannot run {}: {}", usage::shown(program), words_of(&error));
            return ExitCode::from(127);
        }
    };
    let (real, used) = (start.elapsed(), children() - before);
    eprintln!("real {}\nuser {}\nsys  {}", seconds(real), seconds(used.user), seconds(used.system));
    code(status)
}

/// What the children that were waited for used.
fn children() -> CpuTime {
    proc_times(None).expect("the caller's own times can be read").children
}

fn seconds(time: Duration) -> String {
    format!("{}.{:06} s", time.as_secs(), time.subsec_micros())
}

/// The program's own status; 128 and the signal that ended it, as shells say.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.unwrap_or(1) as u8)
}
