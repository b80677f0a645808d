//! Reading what Rust's test programs print.

use super::tally::Tally;

/// Results of test programs, added up from their closing lines; with it, how many closing lines there were.
pub(crate) fn closing_lines(output: &str) -> (Results, usize) {
    let mut sum = Results::default();
    let mut count = 0;
    for line in output.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        count += 1;
        sum.passed += number_before(line, " passed");
        sum.failed += number_before(line, " failed");
        sum.ignored += number_before(line, " ignored");
    }
    (sum, count)
}

/// The figures of closing lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Results {
    /// Tests that passed.
    pub(crate) passed: u32,
    /// Tests that failed.
    pub(crate) failed: u32,
    /// Tests marked `#[ignore]`.
    pub(crate) ignored: u32,
}

impl Results {
    /// As a tally, where the program ended well or not. A program that did not end well has failed, whatever it
    /// printed.
    pub(crate) fn tally(self, ended_well: bool) -> Tally {
        let failed = if ended_well { self.failed } else { self.failed.max(1) };
        Tally { passed: self.passed, failed }
    }
}

/// What one program that was found to have `expected` tests has shown. Each that gave no result has failed; so has
/// the program where it ended badly, or printed anything but one closing line.
pub(crate) fn judge(output: &str, expected: u32, ended_well: bool) -> Tally {
    let (results, closing_lines) = closing_lines(output);
    if closing_lines == 1 {
        let missing = expected.saturating_sub(results.passed + results.failed + results.ignored);
        let tally = results.tally(ended_well);
        return Tally { failed: tally.failed.max(results.failed + missing), ..tally };
    }
    let passed =
        output.lines().filter(|line| line.starts_with("test ") && line.ends_with(" ... ok")).count() as u32;
    Tally { passed: passed.min(expected), failed: expected.saturating_sub(passed).max(1) }
}

/// The names that a program prints with `--list --format terse`.
pub(crate) fn listed(output: &str) -> u32 {
    output.lines().filter(|line| line.ends_with(": test")).count() as u32
}

fn number_before(line: &str, word: &str) -> u32 {
    let number = line.split(word).next().and_then(|before| before.rsplit(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "running 3 tests\ntest a ... ok\ntest b ... ok\ntest c ... ignored\n\n\
        test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s\n";

    #[test]
    fn a_good_run_is_green() {
        assert_eq!(judge(GOOD, 3, true), Tally { passed: 2, failed: 0 });
    }

    #[test]
    fn results_that_are_missing_are_failures() {
        assert_eq!(judge(GOOD, 5, true), Tally { passed: 2, failed: 2 });
        assert_eq!(judge("", 5, true), Tally { passed: 0, failed: 5 });
        assert_eq!(judge("test a ... ok\ntest b ... ", 5, true), Tally { passed: 1, failed: 4 });
    }

    #[test]
    fn a_bad_end_is_a_failure_whatever_was_printed() {
        assert_eq!(judge(GOOD, 3, false), Tally { passed: 2, failed: 1 });
        assert_eq!(judge("", 0, true), Tally { passed: 0, failed: 1 });
        assert_eq!(judge(&GOOD.repeat(2), 3, true), Tally { passed: 3, failed: 1 });
    }

    #[test]
    fn failures_are_counted() {
        let output = "test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(judge(output, 6, false), Tally { passed: 4, failed: 2 });
    }

    #[test]
    fn closing_lines_add_up() {
        let (results, count) = closing_lines(&GOOD.repeat(3));
        assert_eq!((results, count), (Results { passed: 6, failed: 0, ignored: 3 }, 3));
    }

    #[test]
    fn only_tests_are_listed() {
        assert_eq!(listed("a::b: test\nc: benchmark\nd: test\n\n2 tests, 1 benchmark\n"), 2);
    }
}
