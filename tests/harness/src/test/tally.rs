//! Counting and printing.

use std::time::{Duration, Instant};

/// Results of some tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u32,
    /// Tests that failed, did not end, or did not run though they were found.
    pub(crate) failed: u32,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Prints one line for each suite, details for failures only, and keeps the sum.
#[derive(Default)]
pub(crate) struct Board {
    total: Tally,
}

impl Board {
    /// Runs a suite and notes its results.
    pub(crate) fn suite(&mut self, name: &str, run: impl FnOnce() -> Vec<Report>) {
        let started = Instant::now();
        let reports = run();
        let mut tally = Tally::default();
        for report in &reports {
            tally += report.tally;
        }
        self.print(name, tally, started.elapsed());
        for report in reports.iter().filter(|report| report.tally.failed > 0) {
            println!("---- {name}: {}\n{}\n----", report.name, report.details.trim_end());
        }
        self.total += tally;
    }

    /// Notes whether a step of the way could be made; one that could not is a failed test.
    pub(crate) fn note(&mut self, step: &str, result: anyhow::Result<()>) -> bool {
        if let Err(error) = &result {
            self.suite(step, || vec![Report::broken(step, format!("{error:#}"))]);
        }
        result.is_ok()
    }

    fn print(&self, name: &str, tally: Tally, time: Duration) {
        let Tally { passed, failed } = tally;
        println!("{name:<28} {passed:>5} passed {failed:>3} failed {:>7.1} s", time.as_secs_f64());
    }

    /// Prints the last line; the exit status. No test at all is no success.
    pub(crate) fn close(self) -> u8 {
        let Tally { passed, failed } = self.total;
        println!("{passed} passed, {failed} failed");
        u8::from(failed > 0 || passed == 0)
    }
}

/// What came of one program of tests.
pub(crate) struct Report {
    /// Its name.
    pub(crate) name: String,
    /// Its results.
    pub(crate) tally: Tally,
    /// Printed where something failed.
    pub(crate) details: String,
}

impl Report {
    /// A test, or several of which nothing is known, that could not even be started.
    pub(crate) fn broken(name: &str, details: String) -> Report {
        Report { name: name.to_owned(), tally: Tally { passed: 0, failed: 1 }, details }
    }
}
