//! `make test`: everything that can be tested, in one command, with one last line.
//!
//! Three stages: the tests of the host crates, the guest tests inside the kernel in every `configuration`, and the
//! end-to-end tests, which use `qemu-run.sh` as people do. Nothing lists the tests: cargo and the folders do. How
//! many results must come is known before a test runs, so that one that silently does not run is a failure; and no
//! run is without a time-out.

mod configuration;
mod discover;
mod guest;
mod host;
mod libtest;
mod tally;

use crate::project;
use std::path::PathBuf;
use std::time::Duration;
use tally::Board;

/// What `harness test` is told.
#[derive(clap::Args)]
pub struct Options {
    /// Only one stage.
    #[arg(long, value_enum)]
    only: Option<Stage>,
    /// Only tests whose file has this in its name (guest and end-to-end tests).
    #[arg(long)]
    filter: Option<String>,
    /// Only configurations with this in their name (guest tests).
    #[arg(long)]
    configuration: Option<String>,
    /// More random cases, more configurations, and every guest test ten times.
    #[arg(long)]
    long: bool,
    /// The package of the guest tests.
    #[arg(long, value_name = "FOLDER", default_value = "tests/guest")]
    guest: PathBuf,
    /// Kernel options for the guest tests.
    #[arg(long, default_value = "")]
    append: String,
    /// Seconds that one guest binary may take.
    #[arg(long, default_value = "120")]
    limit: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// Tests of the host crates.
    Host,
    /// Tests inside the kernel.
    Guest,
    /// Tests that drive qemu-run.sh.
    EndToEnd,
}

impl Options {
    fn wants(&self, stage: Stage) -> bool {
        self.only.is_none_or(|only| only == stage)
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.limit)
    }
}

/// Runs what was asked for; the exit status is 0 only where at least one test ran and none failed. What keeps a stage
/// from running is a failure of its own, and the other stages run all the same.
pub fn run(options: &Options) -> u8 {
    let mut board = Board::default();
    if options.wants(Stage::Host) {
        let result = host::run_crates(options, &mut board);
        board.note("host", result);
    }
    let in_kernel = options.wants(Stage::Guest) || options.wants(Stage::EndToEnd);
    if in_kernel && board.note("build", project::build()) {
        if options.wants(Stage::Guest) {
            let result = guest::run(options, &mut board);
            board.note("guest", result);
        }
        if options.wants(Stage::EndToEnd) {
            host::run_end_to_end(options, &mut board);
        }
    }
    board.close()
}
