//! `semhist [-t] [arena]`: the history of the semaphores of an arena, given by its name or of all: a log, the oldest operation
//! first, or with `-t` a timeline, with a column for each LWP.

use std::process::ExitCode;

use programs::model::name;
use programs::usage;
use syscalls::Errno;
use syscalls::sema::{ArenaStatus, Records, SemaRecord, operation};
use userlib::{arena, raw};

fn main() -> ExitCode {
    usage::run("semhist", "semhist [-t] [arena]", |arguments| {
        let (is_timeline, operands) = match arguments.split_first() {
            Some((option, operands)) if option == "-t" => (true, operands),
            _ => (false, arguments),
        };
        let wanted = operands.first().filter(|name| !name.starts_with('-'));
        usage::at_most(usize::from(wanted.is_some()), operands)?;
        Ok(show(is_timeline, wanted))
    })
}

fn show(is_timeline: bool, wanted: Option<&String>) -> ExitCode {
    let arenas: Vec<ArenaStatus> =
        arena::all().filter(|status| wanted.is_none_or(|wanted| *wanted == name(&status.name))).collect();
    if let (Some(wanted), true) = (wanted, arenas.is_empty()) {
        eprintln!("semhist: there is no arena {wanted}; without a name all are shown");
        return ExitCode::FAILURE;
    }
    for status in arenas {
        let (records, lost) = match fetch(status.address) {
            Ok(found) => found,
            Err(errno) => {
                eprintln!("semhist: arena {}: {errno}", name(&status.name));
                return ExitCode::FAILURE;
            }
        };
        println!("arena {}: {} operations, {lost} lost", name(&status.name), records.len());
        if is_timeline { print_timeline(&records) } else { records.iter().for_each(print_record) }
    }
    ExitCode::SUCCESS
}

/// The records, the oldest first, and how many can no longer be had.
fn fetch(arena: u64) -> Result<(Vec<SemaRecord>, u64), Errno> {
    let mut records: Vec<SemaRecord> = Vec::new();
    loop {
        let (place, room) = (records.as_mut_ptr().expose_provenance() as u64, records.len() as u64);
        let mut found = Records::default();
        let to = (&raw mut found).expose_provenance() as u64;
        // SAFETY: there is room for so many records, and for what is told of them.
        Errno::from_return(unsafe { raw::arena_records(arena, place, room, to) })?;
        if found.entries <= room {
            records.truncate(found.entries as usize);
            records.reverse();
            return Ok((records, found.errors));
        }
        records.resize(found.entries as usize + 16, SemaRecord::default());
    }
}

fn words(record: &SemaRecord) -> &'static str {
    match record.operation {
        operation::P_HIT => "P, at once",
        operation::P_SLEEP => "P, begins to wait",
        operation::P_WOKE => "P, has waited",
        operation::P_MISS => "P, without waiting: none",
        operation::P_TIMEOUT => "P, too long",
        operation::V_NO_WAIT => "V",
        operation::V_WAKE => "V, wakes",
        _ => "?",
    }
}

fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

fn print_record(record: &SemaRecord) {
    let woken = match record.operation {
        operation::V_WAKE => format!(" pid {} LWP {}", record.woken_pid, record.woken_tid),
        _ => String::new(),
    };
    println!(
        "{:>14} {:#x} count {:>3}  pid {} LWP {} at {:#x}: {}{woken}",
        seconds(record.time),
        record.semaphore,
        record.count,
        record.pid,
        record.tid,
        record.pc,
        words(record),
    );
}

/// A line an operation, a column an LWP: `+` has a token, `.` waits, `-` went without, `V` gave one back, `>` gave it to one
/// who waited.
fn print_timeline(records: &[SemaRecord]) {
    let mut lwps: Vec<u32> = records.iter().map(|record| record.tid).collect();
    lwps.sort_unstable();
    lwps.dedup();
    let columns: String = lwps.iter().map(|tid| format!("{tid:>6}")).collect();
    println!("{:>14} {:<18} {:>5} {columns}", "TIME", "SEMAPHORE", "COUNT");
    for record in records {
        let mark = match record.operation {
            operation::P_HIT | operation::P_WOKE => '+',
            operation::P_SLEEP => '.',
            operation::P_MISS | operation::P_TIMEOUT => '-',
            operation::V_WAKE => '>',
            _ => 'V',
        };
        let marks: String =
            lwps.iter().map(|&tid| format!("{:>6}", if tid == record.tid { mark } else { ' ' })).collect();
        println!(
            "{:>14} {:<#18x} {:>5} {}",
            seconds(record.time),
            record.semaphore,
            record.count,
            marks.trim_end()
        );
    }
}
