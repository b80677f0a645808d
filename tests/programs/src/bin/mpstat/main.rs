//! `mpstat [-p] [-a] [interval [count]]`: what each CPU, or with `-a` each processor set, does in a second. The first table
//! is since boot, the others are of an interval. Columns are those of illumos' `mpstat(8)`; what there is none of (major
//! faults, interrupt threads, readers' and writers' locks, waiting for a disk) is 0.

mod changes;
mod rates;
mod table;

use changes::changes;
use programs::model::all_sets;
use programs::usage::Repeat;
use programs::{now, usage};
use rates::{Sample, samples};
use std::process::ExitCode;
use std::time::Duration;
use table::Form;

fn main() -> ExitCode {
    usage::run("mpstat", "mpstat [-p] [-a] [interval [count]]", |mut arguments| {
        let mut form = Form::default();
        while let Some((option, rest)) = arguments.split_first().filter(|(word, _)| word.starts_with('-')) {
            if !form.set(option) {
                return Err(usage::illegal_option(option));
            }
            arguments = rest;
        }
        report(form, Repeat::from_arguments(arguments)?);
        Ok(ExitCode::SUCCESS)
    })
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
        form.show(&rates, &sets_now);
        (before, sets, since) = (after, sets_now, moment);
    }
}
