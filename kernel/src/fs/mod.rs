//! Files: the read-only root, the console, pipes, and the descriptors of processes.

pub(crate) mod console;
mod descriptors;
mod open_file;
mod page;
pub(crate) mod pipe;
pub(crate) mod root;
mod watchers;

pub(crate) use descriptors::{Descriptor, Descriptors, MOST as MOST_DESCRIPTORS};
pub(crate) use open_file::{File, OpenFile, Readiness};
pub(crate) use pipe::Mode;

use crate::options::Options;
use core::ops::Range;

/// Starts the root from the archive at these physical addresses, and the console.
pub(crate) fn start(archive: Option<Range<u64>>, options: &Options) {
    match archive {
        Some(range) => root::start(range),
        None => log::warn!("no root archive was handed over"),
    }
    console::start(options.console_is_terminal);
}
