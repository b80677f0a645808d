//! Names for the addresses of a kernel backtrace.

use addr2line::Loader;
use std::fmt::Write;
use std::path::Path;

/// The kernel writes each return address of a backtrace on a line of its own, after this word.
const MARK: &str = "at 0x";

/// Finds function, file and line of the kernel's addresses.
pub(crate) struct Symbols {
    loader: Option<Loader>,
}

impl Symbols {
    /// Reads the debug information of a kernel. Where there is none, addresses stay as they are.
    pub(crate) fn of(kernel: &Path) -> Symbols {
        Symbols { loader: Loader::new(kernel).ok() }
    }

    /// A line of the kernel's log, with names added where it is a line of a backtrace. A function that was inlined
    /// gets a line of its own.
    pub(crate) fn explain(&self, line: &str) -> String {
        let address =
            line.trim_start().strip_prefix(MARK).and_then(|hex| u64::from_str_radix(hex.trim_end(), 16).ok());
        let frames = address.map(|address| self.frames(address)).unwrap_or_default();
        if frames.is_empty() {
            return line.to_owned();
        }
        frames.iter().map(|frame| format!("{} {frame}", line.trim_end())).collect::<Vec<_>>().join("\n")
    }

    /// What stands at a return address, innermost first. The call is one byte before at the latest.
    fn frames(&self, return_address: u64) -> Vec<String> {
        let mut found = Vec::new();
        let address = return_address.saturating_sub(1);
        let Some(Ok(mut frames)) = self.loader.as_ref().map(|loader| loader.find_frames(address)) else {
            return found;
        };
        while let Ok(Some(frame)) = frames.next() {
            let mut text = String::new();
            let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
            text.push_str(name.as_deref().unwrap_or("?"));
            if let Some((file, line)) = frame.location.and_then(|at| at.file.zip(at.line)) {
                let _ = write!(text, " ({}:{line})", shortened(file)); // writing to a String does not fail
            }
            found.push(text);
        }
        found
    }
}

/// A source file as seen from the project's folder.
fn shortened(file: &str) -> &str {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside.and_then(Path::to_str).unwrap_or(file)
}
