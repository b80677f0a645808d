//! Making pipes, and second descriptors for open files.

use super::{Address, Int, Result};
use crate::fs::{Descriptor, File, Mode, OpenFile, pipe as pipes};
use crate::mm::Shared;
use crate::mm::user::{probe_write, write_bytes};
use crate::proc::current;
use syscalls::Errno;

const NON_BLOCKING: Int = 0o4000;
const CLOSE_ON_EXEC: Int = 0o2_000_000;

pub(super) fn pipe(ends: Address) -> Result {
    pipe2(ends, 0)
}

pub(super) fn pipe2(ends: Address, flags: Int) -> Result {
    if flags & !(NON_BLOCKING | CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    probe_write(ends, 2 * size_of::<Int>() as u64)?;
    let (reader, writer) = pipes::new()?;
    let (reader, writer) = (OpenFile::new(File::Reader(reader))?, OpenFile::new(File::Writer(writer))?);
    for open in [&reader, &writer] {
        open.set_mode(Mode::non_blocking(flags & NON_BLOCKING != 0));
    }
    let close_on_exec = flags & CLOSE_ON_EXEC != 0;
    let [reading, writing] = add_both(reader, writer, close_on_exec)?;
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&reading.to_le_bytes());
    bytes[4..].copy_from_slice(&writing.to_le_bytes());
    write_bytes(ends, &bytes).inspect_err(|_| close_both([reading, writing]))?;
    Ok(0)
}

/// Nobody was told of these descriptors.
fn close_both(both: [Int; 2]) {
    for fd in both {
        let taken_back = current().descriptors.lock().take(fd);
        drop(taken_back); // after the lock: the end of an open file may wake others
    }
}

/// Two descriptors, or none. EMFILE, ENOMEM.
fn add_both(reader: Shared<OpenFile>, writer: Shared<OpenFile>, close_on_exec: bool) -> Result<[Int; 2]> {
    let mut descriptors = current().descriptors.lock();
    let reading = descriptors.add(Descriptor { open: reader, close_on_exec }, 0)?;
    let writing = descriptors.add(Descriptor { open: writer, close_on_exec }, 0);
    match writing {
        Ok(writing) => Ok([reading, writing]),
        Err(errno) => {
            let taken_back = descriptors.take(reading);
            drop(descriptors);
            drop(taken_back);
            Err(errno)
        }
    }
}

pub(super) fn dup(fd: Int) -> Result {
    let mut descriptors = current().descriptors.lock();
    let open = descriptors.open_file(fd)?;
    descriptors.add(Descriptor { open, close_on_exec: false }, 0).map(|fd| fd as u64)
}

pub(super) fn dup2(from: Int, to: Int) -> Result {
    if from == to {
        current().descriptors.lock().get(from)?;
        return Ok(to as u64);
    }
    dup3(from, to, 0)
}

pub(super) fn dup3(from: Int, to: Int, flags: Int) -> Result {
    if flags & !CLOSE_ON_EXEC != 0 || from == to {
        return Err(Errno::EINVAL);
    }
    let mut descriptors = current().descriptors.lock();
    let open = descriptors.open_file(from)?;
    let replaced = descriptors.replace(to, Descriptor { open, close_on_exec: flags & CLOSE_ON_EXEC != 0 })?;
    drop(descriptors);
    drop(replaced); // after the lock: the end of an open file may wake others
    Ok(to as u64)
}
