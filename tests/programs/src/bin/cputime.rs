//! `cputime [TID]`: user and system time of an LWP, its own by default.

use std::process::ExitCode;

use programs::usage;
use userlib::lwp::{self, LwpId};

fn main() -> ExitCode {
    usage::run("cputime", "cputime [TID]", |arguments| {
        usage::at_most(1, arguments)?;
        let lwp = arguments.first().map(|tid| usage::operand("TID", tid, WANTED, lwp)).transpose()?;
        Ok(tell(lwp.unwrap_or(LwpId::CALLER)))
    })
}

const WANTED: &str = "a number from 1 on is wanted, or -1 for the caller";

fn lwp(word: &str) -> Option<LwpId> {
    if word == "-1" { Some(LwpId::CALLER) } else { usage::number(word).map(LwpId::from_raw) }
}

fn tell(lwp: LwpId) -> ExitCode {
    match lwp::cputime(lwp) {
        Ok(time) => {
            let (user, system) = (time.user.as_nanos(), time.system.as_nanos());
            println!("LWP {}: {user} ns user, {system} ns system", name(lwp));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cputime: LWP {lwp}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn name(lwp: LwpId) -> LwpId {
    match lwp {
        LwpId::CALLER => lwp::current(),
        other => other,
    }
}
