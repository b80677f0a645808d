//! `psrset`: makes, fills, shows and destroys processor sets, and binds processes and LWPs to them. Options, operands and
//! messages are those of illumos' `psrset(8)`.

mod act;
mod command;
mod operand;

use std::process::ExitCode;

const USAGE: &str = "usage:
\tpsrset -c [processor_id ...]
\tpsrset -d processor_set_id ...
\tpsrset -a processor_set_id processor_id ...
\tpsrset -r processor_id ...
\tpsrset -p [processor_id ...]
\tpsrset -b processor_set_id pid[/lwps] ...
\tpsrset -u pid[/lwps] ...
\tpsrset -q [pid[/lwps] ...]
\tpsrset -e processor_set_id command [argument ...]
\tpsrset [-i] [processor_set_id ...]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command::parse(&arguments) {
        Ok(command) => match act::run(command) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
        Err(problem) => {
            eprintln!("psrset: {problem}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
