//! The part of the kernel's log that is written before the first program begins.

use super::text;
use std::io::{Write, stderr};
use std::path::Path;
use std::sync::Once;

/// The line that ends it.
const FIRST_PROGRAM: &str = "boot: first user instruction";
/// What a line begins with that warns: of an option that is ignored, of a part of the machine that is left out.
const WARNING: &str = "warning: ";

/// Whether the first program runs, or has run.
pub(crate) fn is_complete(log: &Path) -> bool {
    text(log).lines().any(|line| line.starts_with(FIRST_PROGRAM))
}

/// Says on standard error what the kernel warned of, once in the life of this process.
pub(crate) fn say_warnings(log: &Path) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        for warning in warnings(&text(log)) {
            let _ = writeln!(stderr(), "qemu-run.sh: {warning}"); // nobody listens: no reason to end the run
        }
    });
}

/// Later lines may show what programs wrote.
fn warnings(log: &str) -> Vec<&str> {
    let boot = log.lines().take_while(|line| !line.starts_with(FIRST_PROGRAM));
    boot.filter(|line| line.starts_with(WARNING)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_those_of_boot() {
        let log = "tally\nwarning: one\nnote: warning: no\nwarning: two\nboot: first user instruction at 1\nwarning: x\n";
        assert_eq!(warnings(log), ["warning: one", "warning: two"]);
        assert!(warnings("").is_empty());
    }
}
