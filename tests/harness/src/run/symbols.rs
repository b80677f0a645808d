//! Names for the addresses of a kernel backtrace.

use addr2line::Loader;
use std::fmt::Write;
use std::path::Path;

/// The kernel writes each return address of a backtrace on a line of its own, after this word.
const MARK: &str = "at 0x";

/// How the message of a panic begins.
pub(crate) const PANIC: &str = "panic:";

/// Finds function, file and line of the kernel's addresses.
pub(crate) struct Symbols {
    loader: Option<Loader>,
}

impl Symbols {
    /// Reads the debug information of a kernel. Where there is none, addresses stay as they are.
    pub(crate) fn of(kernel: &Path) -> Symbols {
        Symbols { loader: Loader::new(kernel).ok() }
    }

    /// Lines of the kernel's log, with names added to those of a backtrace. A function that was inlined gets a line
    /// of its own.
    pub(crate) fn explain(&self, lines: &[&str]) -> Vec<String> {
        let mut explained = Vec::new();
        let mut previous = Line::Other;
        for line in lines {
            let kind = Line::of(line);
            let frames = match kind {
                // Below the registers stands the instruction that faulted; all else are return addresses, which may
                // be past the end of the caller's line, or of the caller.
                Line::Address(address) if matches!(previous, Line::Other) => self.frames(address),
                Line::Address(address) => self.frames(address.saturating_sub(1)),
                _ => Vec::new(),
            };
            if frames.is_empty() {
                explained.push((*line).to_owned());
            }
            explained.extend(frames.iter().map(|frame| format!("{} {frame}", line.trim_end())));
            previous = kind;
        }
        explained
    }

    /// The functions at an address, innermost first.
    fn frames(&self, address: u64) -> Vec<String> {
        let mut found = Vec::new();
        if address == u64::MAX {
            return found; // addr2line looks at the byte behind
        }
        let Some(Ok(mut frames)) = self.loader.as_ref().map(|loader| loader.find_frames(address)) else {
            return found;
        };
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
            let mut text = name.as_deref().unwrap_or("?").to_owned();
            if let Some((file, line)) = frame.location.and_then(|at| at.file.zip(at.line)) {
                let _ = write!(text, " ({}:{line})", shortened(file)); // writing to a String does not fail
            }
            found.push(text);
        }
        found
    }
}

/// What a line of the log is to a backtrace.
enum Line {
    /// The panic's message.
    Message,
    /// An address.
    Address(u64),
    /// Something else, such as registers.
    Other,
}

impl Line {
    fn of(line: &str) -> Line {
        let hex = line.trim_start().strip_prefix(MARK);
        match hex.and_then(|hex| u64::from_str_radix(hex.trim_end(), 16).ok()) {
            Some(address) => Line::Address(address),
            None if line.starts_with(PANIC) => Line::Message,
            None => Line::Other,
        }
    }
}

/// A source file as seen from the project's folder.
fn shortened(file: &str) -> &str {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside.and_then(Path::to_str).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The harness itself, as a program with debug information.
    fn own() -> Symbols {
        Symbols::of(&std::env::current_exe().expect("it runs"))
    }

    #[test]
    fn only_lines_of_a_backtrace_are_explained() {
        let lines = ["panic: at 0x10", " rip 0000", "  at 0xnonsense", "", "  at 0x7fffffffffffffff"];
        assert_eq!(own().explain(&lines), lines);
    }

    #[test]
    fn an_address_is_named() {
        // Position-independent: the address in the file is what counts, so one is looked up there.
        let bytes = std::fs::read(std::env::current_exe().expect("it runs")).expect("readable");
        let file = object::File::parse(bytes.as_slice()).expect("an ELF file");
        use object::{Object, ObjectSymbol};
        let is_this =
            |symbol: &object::Symbol| symbol.name().is_ok_and(|name| name.contains("an_address_is_named"));
        let address = file.symbols().find(is_this).expect("this test").address();
        let line = format!("  at {address:#x}");
        let named = own().explain(&["rip", &line]);
        assert!(
            named.iter().any(|line| line.contains("an_address_is_named") && line.contains("symbols.rs:")),
            "{named:?}"
        );
        // As a return address it is the byte before, which is not in this function.
        let called = own().explain(&["panic: x", &line]);
        assert_ne!(named, called);
    }
}
