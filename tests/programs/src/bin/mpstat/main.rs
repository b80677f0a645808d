//! `mpstat [-p] [-a] [interval [count]]`: what each CPU, or with `-a` each processor set, does in a second. The first table
//! is since boot, the others are of an interval. Columns are those of illumos' `mpstat(8)`; what there is none of (major
//! faults, interrupt threads, readers' and writers' locks, waiting for a disk) is 0.

mod changes;
mod rates;
mod table;

use changes::changes;
use programs::model::{Repeat, all_sets};
use programs::now;
use rates::{Sample, samples};
use std::process::ExitCode;
use std::time::Duration;
use table::Form;

const USAGE: &str = "usage: mpstat [-p] [-a] [interval [count]]";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut form = Form::default();
    while let Some(option) = arguments.first().filter(|argument| argument.starts_with('-')) {
        if !form.set(option) {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
        arguments.remove(0);
    }
    match Repeat::from_arguments(&arguments) {
        Some(repeat) => report(form, repeat),
        None => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn report(form: Form, repeat: Repeat) {
    let (mut before, mut sets, mut since) = (Vec::new(), all_sets(), Duration::ZERO);
    for round in 0..repeat.count {
        if round > 0 {
            std::thread::sleep(repeat.interval);
        }
        let (after, sets_now, moment) = (samples(), all_sets(), now());
        changes(&sets, &sets_now, &before, &after).iter().for_each(|change| println!("{change}"));
        let rates: Vec<_> = after
            .iter()
            .map(|sample: &Sample| sample.since(&before, (moment - since).as_secs_f64()))
            .collect();
        form.show(&rates);
        (before, sets, since) = (after, sets_now, moment);
    }
}
