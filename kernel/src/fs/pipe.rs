//! Pipes. What can be done when is decided by `kcore::pipe`; here are the bytes, the waiting and the ends.
//!
//! **Bytes** lie in pages that are there only while they hold something ([`Ring`]): an empty pipe costs next to nothing.
//! They go through a page of the caller's own between user memory and the pipe,
//! since no user memory is touched under the lock; so a write that POSIX wants whole is put in at once.
//!
//! **Each end is one value**, in one open file; when its last descriptor is closed, it drops, and the other side is told.

use super::page::Page;
use super::watchers::Watchers;
use crate::cpu::Here;
use crate::mm::Shared;
use crate::mm::layout::PAGE_SIZE;
use crate::mm::user::{probe_write, read_bytes, write_bytes};
use crate::proc::{Lwp, signals};
use crate::sched;
use crate::sync::{Lock, Rank};
use kcore::pipe::{ATOMIC, Buffer, Flow, Read, Ring, Write};
use syscalls::Errno;

const SIGPIPE: u8 = 13;

struct Pipe {
    inner: Lock<Inner>,
}

struct Inner {
    flow: Flow,
    ring: Ring<Page>,
    /// Who waits for bytes, or for there to be no writer any more.
    readers: Watchers,
    /// Who waits for room, or for there to be no reader any more.
    writers: Watchers,
}

/// The reading end.
pub(crate) struct Reader(Shared<Pipe>);

/// The writing end.
pub(crate) struct Writer(Shared<Pipe>);

/// Whether a call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It waits until it can do something.
    Blocking,
    /// It says EAGAIN instead.
    NonBlocking,
}

impl Mode {
    /// What a flag says.
    pub(crate) fn non_blocking(is_so: bool) -> Self {
        if is_so { Mode::NonBlocking } else { Mode::Blocking }
    }
}

/// A new pipe. ENOMEM.
pub(crate) fn new() -> Result<(Reader, Writer), Errno> {
    let inner =
        Inner { flow: Flow::new(), ring: Ring::new(), readers: Watchers::new(), writers: Watchers::new() };
    let pipe = Shared::new(Pipe { inner: Lock::new(Rank::Pipe, inner) })?;
    Ok((Reader(pipe.clone()), Writer(pipe)))
}

impl Reader {
    /// Reads at most `length` bytes, more than none, to the program's `buffer`: what is there, or what comes first.
    /// 0: nobody will ever write. EFAULT, EAGAIN, EINTR, ENOMEM; nothing is read then.
    pub(crate) fn read(&self, buffer: u64, length: u64, mode: Mode) -> Result<u64, Errno> {
        let length = length.min(PAGE_SIZE);
        probe_write(buffer, length)?;
        let mut own = Page::new()?;
        let count = loop {
            let read = self.0.inner.lock().take(length, &mut own);
            match read {
                Read::Bytes(positions) => break positions.end - positions.start,
                Read::End => return Ok(0),
                Read::Wait if mode == Mode::NonBlocking => return Err(Errno::EAGAIN),
                Read::Wait => {}
            }
            self.wait()?;
        };
        write_bytes(buffer, &own.bytes()[..count as usize])?;
        Ok(count)
    }

    fn wait(&self) -> Result<(), Errno> {
        let lwp = Here::get().lwp();
        let mut inner = self.0.inner.lock();
        if !inner.flow.has_bytes() && inner.flow.has_writer() {
            inner.readers.add(lwp)?;
            drop(inner);
            sched::block();
            self.0.inner.lock().readers.remove(lwp);
        }
        if lwp.is_killed() { Err(Errno::EINTR) } else { Ok(()) }
    }

    /// Whether there are bytes, and whether somebody may still write.
    pub(crate) fn state(&self) -> (bool, bool) {
        let flow = &self.0.inner.lock().flow;
        (flow.has_bytes(), flow.has_writer())
    }

    /// How many bytes wait.
    pub(crate) fn length(&self) -> u64 {
        self.0.inner.lock().flow.length()
    }

    /// Has an LWP woken when [`Reader::state`] changes. ENOMEM.
    pub(crate) fn watch(&self, lwp: &'static Lwp) -> Result<(), Errno> {
        self.0.inner.lock().readers.add(lwp)
    }

    /// Takes that back.
    pub(crate) fn unwatch(&self, lwp: &'static Lwp) {
        self.0.inner.lock().readers.remove(lwp);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let inner = &mut *self.0.inner.lock();
        inner.flow.close_reader();
        inner.writers.wake_all();
    }
}

impl Writer {
    /// Writes `length` bytes from the program's `buffer`; returns how many. Up to [`ATOMIC`] bytes are written at once or
    /// not at all. EFAULT, EAGAIN, EINTR, ENOMEM; EPIPE, with SIGPIPE, where nobody will ever read. What was written
    /// before an error counts as success.
    pub(crate) fn write(&self, buffer: u64, length: u64, mode: Mode) -> Result<u64, Errno> {
        let mut done = 0;
        while done < length {
            match self.write_piece(buffer + done, (length - done).min(PAGE_SIZE), length <= ATOMIC, mode) {
                Ok(count) => done += count,
                Err(errno) if done == 0 => return Err(errno),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    fn write_piece(&self, buffer: u64, length: u64, whole: bool, mode: Mode) -> Result<u64, Errno> {
        let mut own = Page::new()?;
        let bytes = &mut own.bytes_mut()[..length as usize];
        read_bytes(buffer, bytes)?;
        loop {
            let written = self.0.inner.lock().put(bytes, whole)?;
            match written {
                Write::Room(positions) => return Ok(positions.end - positions.start),
                Write::Broken => {
                    signals::raise(SIGPIPE);
                    return Err(Errno::EPIPE);
                }
                Write::Wait if mode == Mode::NonBlocking => return Err(Errno::EAGAIN),
                Write::Wait => {}
            }
            self.wait(length, whole)?;
        }
    }

    fn wait(&self, length: u64, whole: bool) -> Result<(), Errno> {
        let lwp = Here::get().lwp();
        let mut inner = self.0.inner.lock();
        if inner.flow.room_for(length, whole) == Write::Wait {
            inner.writers.add(lwp)?;
            drop(inner);
            sched::block();
            self.0.inner.lock().writers.remove(lwp);
        }
        if lwp.is_killed() { Err(Errno::EINTR) } else { Ok(()) }
    }

    /// Whether there is room, and whether somebody may still read.
    pub(crate) fn state(&self) -> (bool, bool) {
        let flow = &self.0.inner.lock().flow;
        (flow.has_room(), flow.has_reader())
    }

    /// Has an LWP woken when [`Writer::state`] changes. ENOMEM.
    pub(crate) fn watch(&self, lwp: &'static Lwp) -> Result<(), Errno> {
        self.0.inner.lock().writers.add(lwp)
    }

    /// Takes that back.
    pub(crate) fn unwatch(&self, lwp: &'static Lwp) {
        self.0.inner.lock().writers.remove(lwp);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let inner = &mut *self.0.inner.lock();
        inner.flow.close_writer();
        inner.readers.wake_all();
    }
}

impl Inner {
    /// Moves at most `length` bytes to `own`, and tells those who wait for room.
    fn take(&mut self, length: u64, own: &mut Page) -> Read {
        let read = self.flow.read(length);
        if let Read::Bytes(positions) = &read {
            self.ring.take(positions.clone(), own);
            self.writers.wake_all();
        }
        read
    }

    /// Puts `bytes` in, as far as there is room, and tells those who wait for some. ENOMEM.
    fn put(&mut self, bytes: &[u8], whole: bool) -> Result<Write, Errno> {
        let write = self.flow.room_for(bytes.len() as u64, whole);
        if let Write::Room(positions) = &write {
            let count = (positions.end - positions.start) as usize;
            self.ring.put(positions.start, &bytes[..count])?;
            self.flow.commit(positions.clone());
            self.readers.wake_all();
        }
        Ok(write)
    }
}
