//! Waiting for descriptors.

use super::{Address, Int, Result, Size};
use crate::arch::clock;
use crate::cpu::Here;
use crate::fs::{File, MOST_DESCRIPTORS, console};
use crate::mm::user::{copy_in, copy_out};
use crate::proc::current;
use crate::time;
use syscalls::Errno;
use syscalls::linux::PollEntry;

const CAN_READ: u16 = 0x001;
const CAN_WRITE: u16 = 0x004;
const NOT_OPEN: u16 = 0x020;

pub(super) fn poll(entries: Address, count: Size, timeout_ms: Int) -> Result {
    if count > MOST_DESCRIPTORS as u64 {
        return Err(Errno::EINVAL);
    }
    let deadline = u64::try_from(timeout_ms).ok().map(|ms| clock() + time::ticks_at(ms * 1_000_000));
    loop {
        let ready = look(entries, count)?;
        let over = deadline.is_some_and(|deadline| clock() >= deadline) || Here::get().lwp().is_killed();
        if ready > 0 || over {
            return Ok(ready);
        }
        console::wait_for_input(deadline)?;
    }
}

/// Fills in what each entry's descriptor is ready for; returns how many are ready for something.
fn look(entries: Address, count: Size) -> Result {
    let mut ready = 0;
    for index in 0..count {
        let at = entries.wrapping_add(index * size_of::<PollEntry>() as u64);
        let mut entry: PollEntry = copy_in(at)?;
        entry.returned = readiness(entry.fd) & (entry.events | NOT_OPEN);
        ready += u64::from(entry.returned != 0);
        copy_out(at, &entry)?;
    }
    Ok(ready)
}

fn readiness(fd: i32) -> u16 {
    if fd < 0 {
        return 0; // passed over
    }
    match current().descriptors.lock().get(fd).map(|description| description.file) {
        Err(_) => NOT_OPEN,
        Ok(File::Console) if !console::has_input() => CAN_WRITE,
        Ok(File::Console | File::Null) => CAN_READ | CAN_WRITE,
        Ok(File::Root { .. } | File::Folder) => CAN_READ,
    }
}
