//! `loadgraph [interval [count]]`: the three load averages of each processor set, drawn in the terminal, anew every
//! interval (a second, if none is given) until it is ended, or so many times.
//!
//! `1`, `5` and `f` are the averages over one, five and fifteen minutes; where they meet the shorter one is drawn. A plot's
//! scale is a whole number of LWPs, the same for all sets, so that sets can be compared.

mod history;
mod plot;

use history::History;
use programs::usage::{self, Repeat};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Clears a terminal, and goes to its upper left corner.
const CLEAR: &str = "\x1b[2J\x1b[H";

fn main() -> ExitCode {
    usage::run("loadgraph", "loadgraph [interval [count]]", |arguments| {
        draw(match Repeat::from_arguments(arguments)? {
            _ if arguments.is_empty() => Repeat { interval: Duration::from_secs(1), count: u64::MAX },
            repeat => repeat,
        });
        Ok(ExitCode::SUCCESS)
    })
}

fn draw(repeat: Repeat) {
    let mut histories = Vec::new();
    let is_terminal = std::io::stdout().is_terminal();
    for round in 0..repeat.count {
        if round > 0 {
            std::thread::sleep(repeat.interval);
        }
        let (rows, columns) = plot::terminal_size();
        History::extend(&mut histories, plot::width(columns));
        let picture = plot::picture(&histories, rows, columns);
        let clear = if is_terminal { CLEAR } else { "" };
        let mut output = std::io::stdout().lock();
        // Nobody is left to be told where the output is closed.
        if write!(output, "{clear}{picture}").and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
