//! Files: the read-only root, the console, and the descriptors of processes.

pub(crate) mod console;
mod descriptors;
pub(crate) mod root;

pub(crate) use descriptors::{Description, Descriptors, File, MOST as MOST_DESCRIPTORS};

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
