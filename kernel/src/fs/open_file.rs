//! Open files: what all descriptors that were made from one have in common.

use super::console;
use super::pipe::{Mode, Reader, Writer};
use super::root::RootFile;
use crate::mm::Shared;
use crate::proc::Lwp;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use syscalls::Errno;

/// What an open file gives access to.
pub(crate) enum File {
    /// The console.
    Console,
    /// A file of the root.
    Root(RootFile),
    /// The root itself.
    Folder,
    /// `/dev/null`: takes everything, gives nothing.
    Null,
    /// The reading end of a pipe.
    Reader(Reader),
    /// The writing end of a pipe.
    Writer(Writer),
}

/// A file that was opened.
pub(crate) struct OpenFile {
    pub(crate) file: File,
    /// Where the next read begins, in bytes from the file's start.
    pub(crate) offset: AtomicU64,
    is_non_blocking: AtomicBool,
}

/// What can be done with an open file without waiting.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Readiness {
    pub(crate) can_read: bool,
    pub(crate) can_write: bool,
    /// Of a pipe's writing end: the other is closed.
    pub(crate) has_no_reader: bool,
    /// Of a pipe's reading end: the other is closed.
    pub(crate) has_no_writer: bool,
}

impl OpenFile {
    /// Opens `file`. ENOMEM.
    pub(crate) fn new(file: File) -> Result<Shared<Self>, Errno> {
        Shared::new(OpenFile { file, offset: AtomicU64::new(0), is_non_blocking: AtomicBool::new(false) })
    }

    /// Whether calls may wait.
    pub(crate) fn mode(&self) -> Mode {
        if self.is_non_blocking.load(Relaxed) { Mode::NonBlocking } else { Mode::Blocking }
    }

    /// Says whether calls may wait.
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.is_non_blocking.store(mode == Mode::NonBlocking, Relaxed);
    }

    /// What can be done without waiting. A reader at the end of what there is does not wait.
    pub(crate) fn readiness(&self) -> Readiness {
        let none = Readiness::default();
        match &self.file {
            File::Console => Readiness { can_read: console::has_input(), can_write: true, ..none },
            File::Null => Readiness { can_read: true, can_write: true, ..none },
            File::Root(_) | File::Folder => Readiness { can_read: true, ..none },
            File::Reader(reader) => {
                let (can_read, has_writer) = reader.state();
                Readiness { can_read, has_no_writer: !has_writer, ..none }
            }
            File::Writer(writer) => {
                let (can_write, has_reader) = writer.state();
                Readiness { can_write, has_no_reader: !has_reader, ..none }
            }
        }
    }

    /// Has an LWP woken when the readiness changes. ENOMEM.
    pub(crate) fn watch(&self, lwp: &'static Lwp) -> Result<(), Errno> {
        match &self.file {
            File::Console => console::watch(lwp),
            File::Reader(reader) => reader.watch(lwp),
            File::Writer(writer) => writer.watch(lwp),
            File::Root(_) | File::Folder | File::Null => Ok(()), // it never does
        }
    }

    /// Takes that back.
    pub(crate) fn unwatch(&self, lwp: &'static Lwp) {
        match &self.file {
            File::Console => console::unwatch(lwp),
            File::Reader(reader) => reader.unwatch(lwp),
            File::Writer(writer) => writer.unwatch(lwp),
            File::Root(_) | File::Folder | File::Null => {}
        }
    }
}
