//! What a program says where its command line is wrong: alike in all of them.

use std::format;
use std::process::ExitCode;
use std::string::String;
use std::time::Duration;
use std::vec::Vec;

/// Runs a program with its arguments; what it says is wrong with them is told, with the usage and exit status 2.
///
/// An argument that is no text is one with replacement characters here.
pub fn run(program: &str, usage: &str, main: impl FnOnce(&[String]) -> Result<ExitCode, String>) -> ExitCode {
    let words = std::env::args_os().skip(1);
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    main(&words).unwrap_or_else(|problem| {
        std::eprintln!("{program}: {problem}\nusage: {usage}");
        ExitCode::from(2)
    })
}

/// Digits and nothing else.
#[must_use]
pub fn number<N: core::str::FromStr>(word: &str) -> Option<N> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

/// An operand, read by `read`, or that it is none, and what is `wanted`.
///
/// # Errors
/// `read` gives nothing.
pub fn operand<T>(
    what: &str,
    word: &str,
    wanted: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    read(word).ok_or_else(|| match word.starts_with('-') {
        true => illegal_option(word),
        false => invalid(what, word, wanted),
    })
}

/// No more operands than so many.
///
/// # Errors
/// There are.
pub fn at_most(count: usize, words: &[String]) -> Result<(), String> {
    match words.get(count) {
        None => Ok(()),
        Some(option) if option.starts_with('-') => Err(illegal_option(option)),
        Some(operand) => Err(format!("unexpected operand {}", shown(operand))),
    }
}

/// That a word is not `what` it should be.
#[must_use]
pub fn invalid(what: &str, word: &str, wanted: &str) -> String {
    format!("invalid {what} {}: {wanted}", shown(word))
}

/// That there is no such option.
#[must_use]
pub fn illegal_option(word: &str) -> String {
    format!("illegal option {word}")
}

/// A word as it is shown, so that an empty one is seen.
#[must_use]
pub fn shown(word: &str) -> &str {
    if word.is_empty() { "''" } else { word }
}

/// `[interval [count]]`: how often a report is made, and how many times; by itself once, with an interval for ever.
#[derive(Debug, Clone, Copy)]
pub struct Repeat {
    /// Between two reports.
    pub interval: Duration,
    /// How many reports.
    pub count: u64,
}

impl Repeat {
    /// From the arguments.
    ///
    /// # Errors
    /// They are not such numbers: what is wrong, in words.
    pub fn from_arguments(arguments: &[String]) -> Result<Repeat, String> {
        let above_zero = |word: &str| number(word).filter(|&number: &u64| number > 0);
        let interval = |word: &String| {
            let wanted = "whole seconds from 1 on are wanted";
            operand("interval", word, wanted, above_zero).map(Duration::from_secs)
        };
        let count = |word: &String| operand("count", word, "a whole number from 1 on is wanted", above_zero);
        at_most(2, arguments)?;
        Ok(Repeat {
            interval: arguments.first().map_or(Ok(Duration::ZERO), interval)?,
            count: arguments.get(1).map_or(Ok(if arguments.is_empty() { 1 } else { u64::MAX }), count)?,
        })
    }
}
