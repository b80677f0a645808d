//! The open files of a process, by number.

use super::root::RootFile;
use alloc::vec::Vec;
use syscalls::Errno;

/// The most descriptors a process may have.
pub(crate) const MOST: usize = 256;

/// What a descriptor refers to.
#[derive(Clone, Copy)]
pub(crate) enum File {
    /// The console.
    Console,
    /// A file of the root, and the offset of the next read.
    Root {
        /// Which.
        file: RootFile,
        /// Bytes from its start.
        offset: u64,
    },
    /// The root itself.
    Folder,
    /// `/dev/null`: takes everything, gives nothing.
    Null,
}

/// An open file.
#[derive(Clone, Copy)]
pub(crate) struct Description {
    pub(crate) file: File,
    /// Closed by exec.
    pub(crate) close_on_exec: bool,
}

/// The descriptors of a process.
pub(crate) struct Descriptors {
    open: Vec<Option<Description>>,
}

impl Descriptors {
    /// 0, 1 and 2 are the console.
    pub(crate) fn console() -> Result<Self, Errno> {
        let mut descriptors = Descriptors { open: Vec::new() };
        for _ in 0..3 {
            descriptors.add(Description { file: File::Console, close_on_exec: false }, 0)?;
        }
        Ok(descriptors)
    }

    /// The open file behind `fd`. EBADF.
    pub(crate) fn get(&self, fd: i32) -> Result<Description, Errno> {
        usize::try_from(fd).ok().and_then(|fd| *self.open.get(fd)?).ok_or(Errno::EBADF)
    }

    /// The same, to change.
    pub(crate) fn get_mut(&mut self, fd: i32) -> Result<&mut Description, Errno> {
        let slot = usize::try_from(fd).ok().and_then(|fd| self.open.get_mut(fd));
        slot.and_then(Option::as_mut).ok_or(Errno::EBADF)
    }

    /// Opens the lowest free number from `lowest` on. EMFILE, ENOMEM.
    pub(crate) fn add(&mut self, description: Description, lowest: usize) -> Result<i32, Errno> {
        let free =
            (lowest..MOST).find(|&fd| self.open.get(fd).is_none_or(Option::is_none)).ok_or(Errno::EMFILE)?;
        self.put(free, description)?;
        Ok(free as i32)
    }

    /// Closes `fd`. EBADF.
    pub(crate) fn close(&mut self, fd: i32) -> Result<(), Errno> {
        self.get(fd)?;
        self.open[fd as usize] = None;
        Ok(())
    }

    /// Closes everything and gives the memory back.
    pub(crate) fn close_all(&mut self) {
        self.open = Vec::new();
    }

    fn put(&mut self, fd: usize, description: Description) -> Result<(), Errno> {
        if fd >= self.open.len() {
            self.open.try_reserve(fd + 1 - self.open.len()).map_err(|_| Errno::ENOMEM)?;
            self.open.resize(fd + 1, None);
        }
        self.open[fd] = Some(description);
        Ok(())
    }
}
