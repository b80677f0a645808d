//! Waiting for descriptors.
//!
//! The caller is put on the list of every file it asks about, looks at all of them, and only then sleeps; afterwards it
//! is taken off all lists. Whatever changes in between wakes it, and it looks again.

use super::{Address, Int, Result, Size};
use crate::arch::clock;
use crate::cpu::Here;
use crate::fs::{MOST_DESCRIPTORS, OpenFile, Readiness};
use crate::mm::Shared;
use crate::mm::user::{copy_in, probe_write, write_bytes};
use crate::proc::{Lwp, current};
use crate::{sched, time};
use alloc::vec::Vec;
use syscalls::Errno;
use syscalls::linux::PollEntry;

const CAN_READ: u16 = 0x001;
const CAN_WRITE: u16 = 0x004;
const NO_READER: u16 = 0x008;
const NO_WRITER: u16 = 0x010;
const NOT_OPEN: u16 = 0x020;
/// Told without being asked for.
const ALWAYS: u16 = NO_READER | NO_WRITER | NOT_OPEN;

const ENTRY_BYTES: u64 = size_of::<PollEntry>() as u64;

pub(super) fn poll(entries: Address, count: Size, timeout_ms: Int) -> Result {
    if count > MOST_DESCRIPTORS as u64 {
        return Err(Errno::EINVAL);
    }
    probe_write(entries, count * ENTRY_BYTES)?;
    let deadline = u64::try_from(timeout_ms).ok().map(|ms| clock() + time::ticks_at(ms * 1_000_000));
    let asked = Asked::read(entries, count)?;
    let ready = asked.wait(deadline)?;
    if ready > 0 || !Here::get().lwp().is_killed() {
        asked.write_answers(entries)?;
    }
    Ok(ready)
}

/// What a call asks about.
struct Asked(Vec<Question>);

struct Question {
    events: u16,
    /// None: the entry is to be passed over.
    file: Option<core::result::Result<Shared<OpenFile>, Errno>>,
}

impl Asked {
    fn read(entries: Address, count: Size) -> Result<Self> {
        let mut questions = Vec::new();
        questions.try_reserve_exact(count as usize).map_err(|_| Errno::ENOMEM)?;
        for index in 0..count {
            let entry: PollEntry = copy_in(entries + index * ENTRY_BYTES)?;
            let file = (entry.fd >= 0).then(|| current().descriptors.lock().open_file(entry.fd));
            questions.push(Question { events: entry.events, file });
        }
        Ok(Asked(questions))
    }

    /// Waits until something is ready or the time is over; returns how many entries are ready.
    fn wait(&self, deadline: Option<u64>) -> Result {
        loop {
            let ready = self.count_ready();
            if ready > 0 || deadline.is_some_and(|deadline| clock() >= deadline) {
                return Ok(ready);
            }
            let lwp = Here::get().lwp();
            if lwp.is_killed() {
                return Err(Errno::EINTR);
            }
            let _watching = Watching::begin(self, lwp)?;
            if self.count_ready() > 0 {
                continue;
            }
            sched::block_until(deadline);
        }
    }

    fn count_ready(&self) -> u64 {
        self.0.iter().filter(|question| question.answer() != 0).count() as u64
    }

    fn write_answers(&self, entries: Address) -> Result<()> {
        for (index, question) in self.0.iter().enumerate() {
            const ANSWER: u64 = core::mem::offset_of!(PollEntry, returned) as u64;
            write_bytes(entries + index as u64 * ENTRY_BYTES + ANSWER, &question.answer().to_le_bytes())?;
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = &OpenFile> {
        self.0.iter().filter_map(|question| question.file.as_ref()?.as_ref().ok()).map(|file| &**file)
    }
}

impl Question {
    fn answer(&self) -> u16 {
        match &self.file {
            None => 0,
            Some(Err(_)) => NOT_OPEN,
            Some(Ok(file)) => bits(file.readiness()) & (self.events | ALWAYS),
        }
    }
}

fn bits(readiness: Readiness) -> u16 {
    let bit = |is_so: bool, bit: u16| if is_so { bit } else { 0 };
    bit(readiness.can_read, CAN_READ)
        | bit(readiness.can_write, CAN_WRITE)
        | bit(readiness.has_no_reader, NO_READER)
        | bit(readiness.has_no_writer, NO_WRITER)
}

/// An LWP that is on the lists of the first files that a call asks about.
struct Watching<'a> {
    asked: &'a Asked,
    lwp: &'static Lwp,
    count: usize,
}

impl<'a> Watching<'a> {
    /// Puts `lwp` on all lists. ENOMEM.
    fn begin(asked: &'a Asked, lwp: &'static Lwp) -> Result<Self> {
        let mut watching = Watching { asked, lwp, count: 0 };
        for file in asked.files() {
            file.watch(lwp)?;
            watching.count += 1;
        }
        Ok(watching)
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.asked.files().take(self.count).for_each(|file| file.unwatch(self.lwp));
    }
}
