//! `psrset`: makes, fills, shows and destroys processor sets, and binds processes and LWPs to them. Options, operands and
//! messages are those of illumos' `psrset(8)`, with the reason behind them where the error does not say it.

mod act;
mod bind;
mod command;
mod operand;
mod reason;

use programs::usage;
use std::process::ExitCode;

const USAGE: &str = "psrset -c [processor_id ...]
       psrset -d processor_set_id ...
       psrset -a processor_set_id processor_id ...
       psrset -r processor_id ...
       psrset -p [processor_id ...]
       psrset -b processor_set_id pid[/lwps] ...
       psrset -u pid[/lwps] ...
       psrset -q [pid[/lwps] ...]
       psrset -e processor_set_id command [argument ...]
       psrset [-i] [processor_set_id ...]";

fn main() -> ExitCode {
    usage::run("psrset", USAGE, |arguments| {
        let all_well = act::run(command::parse(arguments)?);
        Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
