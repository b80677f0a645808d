//! The root: the files of the cpio archive that the loader handed over. Read-only, one folder.

use crate::mm::layout::direct;
use alloc::vec::Vec;
use core::ops::Range;
use kcore::archive::{Member, members};
use spin::Once;

/// All files, in the order of the archive.
static FILES: Once<Vec<RootFile>> = Once::new();

/// A file of the root.
#[derive(Clone, Copy)]
pub(crate) struct RootFile {
    /// Where it stands in the archive, from 1 on: its inode number.
    pub(crate) number: u64,
    pub(crate) name: &'static str,
    pub(crate) data: &'static [u8],
    /// Permission bits.
    pub(crate) mode: u32,
}

/// Takes over the archive at these physical addresses, which stays there for ever.
pub(crate) fn start(range: Range<u64>) {
    let bytes = (range.end - range.start) as usize;
    // SAFETY: the loader put the archive there, the frame allocator leaves it alone, and nobody writes it.
    let archive = unsafe { core::slice::from_raw_parts(direct(range.start), bytes) };
    let files = FILES.call_once(|| listed(archive));
    log::info!("root: {} files, {} KiB", files.len(), bytes / 1024);
}

fn listed(archive: &'static [u8]) -> Vec<RootFile> {
    let file = |(index, member): (usize, Member<'static>)| {
        let name = core::str::from_utf8(member.name).ok()?.trim_start_matches("./");
        let number = index as u64 + 1;
        (!name.is_empty()).then_some(RootFile { number, name, data: member.data, mode: member.mode & 0o777 })
    };
    members(archive).enumerate().filter_map(file).collect()
}

/// The file that a path names.
pub(crate) fn find(path: &str) -> Option<RootFile> {
    let name = plain(path).trim_end_matches('/');
    files().find(|file| file.name == name)
}

/// Whether a path names the root itself, the only folder.
pub(crate) fn is_root(path: &str) -> bool {
    matches!(plain(path).trim_end_matches('/'), "" | "." | "bin" | "usr/bin")
}

/// Whether a path takes a file for a folder.
pub(crate) fn leads_through_a_file(path: &str) -> bool {
    let path = plain(path);
    path.match_indices('/').any(|(end, _)| files().any(|file| file.name == &path[..end]))
}

/// A path from the root on. Libraries and scripts look for shells and tools in `/bin` and `/usr/bin`: these are the root
/// too.
fn plain(path: &str) -> &str {
    let path = path.trim_start_matches('/').trim_start_matches("./");
    path.strip_prefix("bin/").or(path.strip_prefix("usr/bin/")).unwrap_or(path)
}

/// All files.
fn files() -> impl Iterator<Item = RootFile> {
    FILES.get().into_iter().flatten().copied()
}
