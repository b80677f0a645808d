//! The open files of a process, by number. Several numbers, of several processes, may stand for one open file.

use super::open_file::{File, OpenFile};
use crate::mm::Shared;
use alloc::vec::Vec;
use syscalls::Errno;

/// The most descriptors a process may have.
pub(crate) const MOST: usize = 256;

/// A descriptor.
#[derive(Clone)]
pub(crate) struct Descriptor {
    pub(crate) open: Shared<OpenFile>,
    /// Closed by exec.
    pub(crate) close_on_exec: bool,
}

/// The descriptors of a process.
pub(crate) struct Descriptors {
    list: Vec<Option<Descriptor>>,
}

/// Descriptors that were taken out, to be let go of without a lock.
pub(crate) struct Closed {
    _list: Vec<Option<Descriptor>>,
}

impl Descriptors {
    /// None.
    pub(crate) const fn new() -> Self {
        Descriptors { list: Vec::new() }
    }

    /// 0, 1 and 2 are the console.
    pub(crate) fn console() -> Result<Self, Errno> {
        let mut descriptors = Descriptors::new();
        let open = OpenFile::new(File::Console)?;
        for _ in 0..3 {
            descriptors.add(Descriptor { open: open.clone(), close_on_exec: false }, 0)?;
        }
        Ok(descriptors)
    }

    /// The same for a new process. ENOMEM.
    pub(crate) fn try_clone(&self) -> Result<Self, Errno> {
        let mut list = Vec::new();
        list.try_reserve(self.list.len()).map_err(|_| Errno::ENOMEM)?;
        list.extend_from_slice(&self.list);
        Ok(Descriptors { list })
    }

    /// The descriptor `fd`. EBADF.
    pub(crate) fn get(&self, fd: i32) -> Result<&Descriptor, Errno> {
        let slot = usize::try_from(fd).ok().and_then(|fd| self.list.get(fd));
        slot.and_then(Option::as_ref).ok_or(Errno::EBADF)
    }

    /// The same, to change.
    pub(crate) fn get_mut(&mut self, fd: i32) -> Result<&mut Descriptor, Errno> {
        let slot = usize::try_from(fd).ok().and_then(|fd| self.list.get_mut(fd));
        slot.and_then(Option::as_mut).ok_or(Errno::EBADF)
    }

    /// The open file behind `fd`. EBADF.
    pub(crate) fn open_file(&self, fd: i32) -> Result<Shared<OpenFile>, Errno> {
        self.get(fd).map(|descriptor| descriptor.open.clone())
    }

    /// Takes the lowest free number from `lowest` on. EMFILE, ENOMEM.
    pub(crate) fn add(&mut self, descriptor: Descriptor, lowest: usize) -> Result<i32, Errno> {
        let free =
            (lowest..MOST).find(|&fd| self.list.get(fd).is_none_or(Option::is_none)).ok_or(Errno::EMFILE)?;
        self.make_room(free)?;
        self.list[free] = Some(descriptor);
        Ok(free as i32)
    }

    /// Puts `descriptor` at `fd`, and hands out what was there. EBADF: there can be no such number; ENOMEM.
    pub(crate) fn replace(&mut self, fd: i32, descriptor: Descriptor) -> Result<Option<Descriptor>, Errno> {
        let fd = usize::try_from(fd).ok().filter(|&fd| fd < MOST).ok_or(Errno::EBADF)?;
        self.make_room(fd)?;
        Ok(self.list[fd].replace(descriptor))
    }

    /// Takes out `fd`. EBADF.
    pub(crate) fn take(&mut self, fd: i32) -> Result<Descriptor, Errno> {
        self.get(fd)?;
        self.list[fd as usize].take().ok_or(Errno::EBADF)
    }

    /// Takes out a descriptor that exec closes, if there is one.
    pub(crate) fn take_close_on_exec(&mut self) -> Option<Descriptor> {
        let closes = |slot: &&mut Option<Descriptor>| slot.as_ref().is_some_and(|open| open.close_on_exec);
        self.list.iter_mut().find(closes)?.take()
    }

    /// Takes out everything.
    pub(crate) fn take_all(&mut self) -> Closed {
        Closed { _list: core::mem::take(&mut self.list) }
    }

    fn make_room(&mut self, fd: usize) -> Result<(), Errno> {
        if fd >= self.list.len() {
            self.list.try_reserve(fd + 1 - self.list.len()).map_err(|_| Errno::ENOMEM)?;
            self.list.resize(fd + 1, None);
        }
        Ok(())
    }
}
