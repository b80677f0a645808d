//! `ps`: all processes: who made them, how many LWPs they have, what they are doing, the CPU that they were seen on last,
//! and the time that they used.

use programs::model::name;
use programs::{milliseconds, usage};
use syscalls::{ProcInfo, proc_state};
use userlib::process;

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    usage::run("ps", "ps", |arguments| {
        usage::at_most(0, arguments)?;
        list();
        Ok(ExitCode::SUCCESS)
    })
}

fn list() {
    println!(
        "{:>6} {:>6} {:>5} {:>5} {:>3} {:>12} {:>12} COMMAND",
        "PID", "PPID", "LWPS", "STATE", "CPU", "USER ms", "SYSTEM ms"
    );
    process::all().for_each(|info| println!("{}", line(&info)));
}

fn line(info: &ProcInfo) -> String {
    format!(
        "{:>6} {:>6} {:>5} {:>5} {:>3} {:>12.3} {:>12.3} {}",
        info.pid,
        info.parent,
        info.lwps,
        state(info.state),
        info.cpu,
        milliseconds(Duration::from_nanos(info.user)),
        milliseconds(Duration::from_nanos(info.system)),
        name(&info.name)
    )
}

/// In a letter, as elsewhere.
fn state(state: u32) -> &'static str {
    match state {
        proc_state::RUNNING => "R",
        proc_state::SLEEPING => "S",
        proc_state::STOPPED => "T",
        proc_state::ENDED => "Z",
        _ => "?",
    }
}
