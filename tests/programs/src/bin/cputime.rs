//! `cputime [TID]`: user and system time of an LWP, its own by default.

use std::process::ExitCode;

use userlib::lwp::{self, LwpId};

fn main() -> ExitCode {
    let asked = std::env::args().nth(1).map(|tid| tid.parse().map(LwpId::from_raw));
    let lwp = match asked.transpose() {
        Ok(lwp) => lwp.unwrap_or(LwpId::CALLER),
        Err(error) => {
            eprintln!("usage: cputime [TID]: {error}");
            return ExitCode::from(2);
        }
    };
    match lwp::cputime(lwp) {
        Ok(time) => {
            println!(
                "LWP {}: {} ns user, {} ns system",
                name(lwp),
                time.user.as_nanos(),
                time.system.as_nanos()
            );
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
