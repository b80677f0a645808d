//! The command `harness`; what its subcommands do is in the library.

use clap::{Parser, Subcommand};
use harness::{bench, new_test, run, run::outcome, test};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "harness", about = "Host side of running and testing the kernel")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program in the kernel and exit with its status; called by qemu-run.sh, which owns QEMU's flags.
    Run(run::Options),
    /// Run the tests; the last line printed is "N passed, N failed".
    Test(test::Options),
    /// Measure, in guest instructions, and compare with the goals.
    Bench(bench::Options),
    /// Write a guest test that passes, to start from.
    NewTest(new_test::Options),
}

fn main() -> ExitCode {
    let (name, result) = match Arguments::parse().command {
        Command::Run(options) => ("qemu-run.sh", run::run(&options)),
        Command::Test(options) => ("test", Ok(test::run(&options))),
        Command::Bench(options) => ("bench", bench::run(&options)),
        Command::NewTest(options) => ("new-test", new_test::run(&options)),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("{name}: {error:#}");
            ExitCode::from(outcome::MISTAKE)
        }
    }
}
