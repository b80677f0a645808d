//! `time COMMAND [ARGUMENT…]`: runs a program of the root folder, and says how long it took and what it used, with the
//! processes that it waited for, to the microsecond.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use userlib::lwp::CpuTime;
use userlib::process::proc_times;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: time COMMAND [ARGUMENT...]");
        return ExitCode::from(2);
    };
    let (start, before) = (Instant::now(), children());
    let status = match Command::new(&program).args(words).status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("time: {}: {error}", program.display());
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
