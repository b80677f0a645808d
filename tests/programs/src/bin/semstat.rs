//! `semstat [interval [count]]`: all semaphores of all arenas: count, waiters, flags, meter, owner. The first table shows
//! what the meters counted since they were switched on, the others what they counted in an interval.

use std::collections::BTreeMap;
use std::process::ExitCode;

use programs::model::name;
use programs::usage::{self, Repeat};
use syscalls::sema::{Meter, SemaStatus, flag};
use userlib::{arena, semaphore};

fn main() -> ExitCode {
    usage::run("semstat", "semstat [interval [count]]", |arguments| {
        report(Repeat::from_arguments(arguments)?);
        Ok(ExitCode::SUCCESS)
    })
}

fn report(repeat: Repeat) {
    let mut before = BTreeMap::new();
    for round in 0..repeat.count {
        if round > 0 {
            std::thread::sleep(repeat.interval);
        }
        let now: BTreeMap<u64, SemaStatus> =
            semaphore::all().map(|status| (status.address, status)).collect();
        println!(
            "{:<18} {:<12} {:>6} {:>5} {:<5} {:>9} {:>9} {:>9} {:>9} {:>7} {:>10} OWNER",
            "SEMAPHORE",
            "ARENA",
            "COUNT",
            "NWAIT",
            "FLAGS",
            "PHITS",
            "PSEMAS",
            "VSEMAS",
            "VNOWAIT",
            "MAXWAIT",
            "WAIT ms"
        );
        let arenas: BTreeMap<u64, String> =
            arena::all().map(|status| (status.address, name(&status.name))).collect();
        for status in now.values() {
            let arena = arenas.get(&status.arena).map_or("?", String::as_str);
            println!("{}", line(status, arena, before.get(&status.address)));
        }
        before = now;
    }
}

/// The line of a semaphore in an arena; where it was looked at before, with what was counted since.
fn line(status: &SemaStatus, arena: &str, before: Option<&SemaStatus>) -> String {
    let is_metered = status.flags & flag::METER != 0;
    let since = before.map_or(Meter::default(), |before| before.meter);
    let figure = |now: i32, before: i32| match is_metered {
        true => (if now < before { now } else { now - before }).to_string(), // fewer: it was reset
        false => "-".to_owned(),
    };
    let Meter { hits, acquires, releases, free_releases, most_waiting, .. } = status.meter;
    let waited = status.wait_total.saturating_sub(before.map_or(0, |before| before.wait_total));
    format!(
        "{:<#18x} {:<12} {:>6} {:>5} {:<5} {:>9} {:>9} {:>9} {:>9} {:>7} {:>10} {}",
        status.address,
        arena,
        status.tokens,
        status.waiting,
        flags(status.flags),
        figure(hits, since.hits),
        figure(acquires, since.acquires),
        figure(releases, since.releases),
        figure(free_releases, since.free_releases),
        figure(most_waiting, 0),
        if is_metered { format!("{:.3}", waited as f64 / 1e6) } else { "-".to_owned() },
        owner(status),
    )
}

/// M: metered, D: with a debug record, H: recorded, R: recursive.
fn flags(flags: u32) -> String {
    let letters = [(flag::METER, 'M'), (flag::DEBUG, 'D'), (flag::HISTORY, 'H'), (flag::RECURSION, 'R')];
    letters.into_iter().map(|(flag, letter)| if flags & flag != 0 { letter } else { '-' }).collect()
}

fn owner(status: &SemaStatus) -> String {
    match status.debug.owner_pid {
        _ if status.flags & flag::DEBUG == 0 => "-".to_owned(),
        -1 => "nobody".to_owned(),
        pid => format!("pid {pid} at {:#x}", status.debug.owner_pc),
    }
}
