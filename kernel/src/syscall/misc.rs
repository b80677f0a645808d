//! The rest: names, limits, figures of the machine, random bytes, giving way.

use super::pointer::optional;
use super::{Address, Int, Result, Size, Unsigned};
use crate::mm::frames;
use crate::mm::layout::{PAGE_SIZE, USER_STACK};
use crate::mm::user::{copy_in, copy_out, probe_write, write_bytes};
use crate::proc::{current, table};
use crate::{pset, random, sched, time};
use syscalls::Errno;
use syscalls::linux::{Limit, SysInfo, UTS_FIELD};

pub(super) fn uname(name: Address) -> Result {
    const FIELDS: [&str; 6] = ["tally", "tally", env!("CARGO_PKG_VERSION"), "exact accounts", "x86_64", ""];
    let mut text = [0; UTS_FIELD * FIELDS.len()];
    for (place, field) in text.chunks_exact_mut(UTS_FIELD).zip(FIELDS) {
        place[..field.len()].copy_from_slice(field.as_bytes());
    }
    write_bytes(name, &text)?;
    Ok(0)
}

pub(super) fn sysinfo(info: Address) -> Result {
    let usage = frames::usage();
    let answer = SysInfo {
        uptime: (time::monotonic_ns() / 1_000_000_000) as i64,
        total_memory: usage.total,
        free_memory: usage.free + crate::mm::stacks::spare_frames(), // kept ready, not in use
        processes: crate::proc::process_count(),
        unit: PAGE_SIZE as u32,
        loads: pset::machine_averages().fixed(16),
        ..SysInfo::default()
    };
    copy_out(info, &answer)?;
    Ok(0)
}

pub(super) fn getrandom(buffer: Address, length: Size, flags: Unsigned) -> Result {
    const KNOWN_FLAGS: Unsigned = 0b111;
    const MOST: u64 = 32 << 20;
    const PIECE: usize = 256;
    if flags & !KNOWN_FLAGS != 0 {
        return Err(Errno::EINVAL);
    }
    let length = length.min(MOST);
    probe_write(buffer, length)?;
    let mut bytes = [0; PIECE];
    for done in (0..length).step_by(PIECE) {
        let piece = &mut bytes[..(length - done).min(PIECE as u64) as usize];
        random::fill(piece);
        write_bytes(buffer + done, piece)?;
        sched::pause_long_call();
    }
    Ok(length)
}

pub(super) fn prlimit64(pid: Int, resource: Int, new: Address, old: Address) -> Result {
    const STACK: Int = 3;
    const PROCESSES: Int = 6;
    const FILES: Int = 7;
    const HIGHEST: Int = 15;
    if pid != 0 && pid as u32 != current().pid() {
        return Err(Errno::ESRCH);
    }
    let most = match resource {
        STACK => USER_STACK.end - USER_STACK.start,
        PROCESSES => table::MOST_LWPS as u64,
        FILES => crate::fs::MOST_DESCRIPTORS as u64,
        0..=HIGHEST => u64::MAX,
        _ => return Err(Errno::EINVAL),
    };
    if new != 0 {
        let limit: Limit = copy_in(new)?;
        // The limits are the kernel's own; asking for what is in force changes nothing.
        if limit.current > limit.maximum {
            return Err(Errno::EINVAL);
        }
        if limit.current < most || limit.maximum > most {
            return Err(Errno::EPERM);
        }
    }
    optional(old, |old| copy_out(old, &Limit { current: most, maximum: most }))?;
    Ok(0)
}
