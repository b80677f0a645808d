//! Arenas: joining, memory, the published word, histories.

use super::{Address, Int, Long, Result, Size};
use crate::mm::user::{copy_out, probe_write, read_string};
use crate::sema::{self, Wish, with_records, with_whole};
use crate::time::rate;
use alloc::vec::Vec;
use kcore::sema::{Extent, History, LINE, Record};
use syscalls::Errno;
use syscalls::sema::{
    ARENA_NAME, ARENA_SIZES, ArenaStatus, MOST_ARENA_USERS, Records, SemaRecord, arena_kind, exchange,
    history,
};

/// So many records are taken along at a time.
const AT_ONCE: usize = 64;

pub(super) fn arena_join(name: Address, size: Size, users: Int, kind: Int) -> Result {
    let is_findable = match kind {
        arena_kind::GENERAL => true,
        arena_kind::SHARED_ONLY => false,
        _ => return Err(Errno::EINVAL),
    };
    if !ARENA_SIZES.contains(&size) || !(1..=MOST_ARENA_USERS).contains(&users) {
        return Err(Errno::EINVAL);
    }
    let name = read_string(name, ARENA_NAME + 1).map_err(|errno| match errno {
        Errno::ENAMETOOLONG => Errno::EINVAL,
        other => other,
    })?;
    if name.is_empty() {
        return Err(Errno::EINVAL);
    }
    sema::join(Wish { name, size, most_users: users as u32, is_findable })
}

pub(super) fn arena_leave(arena: Address) -> Result {
    sema::leave(arena)?;
    Ok(0)
}

pub(super) fn arena_allocate(arena: Address, length: Size) -> Result {
    with_whole(arena, |place| Ok(arena + place.arena.allocate(&place.pages, length)?))
}

pub(super) fn arena_free(arena: Address, block: Address) -> Result {
    with_whole(arena, |place| place.arena.give_back(&place.pages, block.wrapping_sub(arena)))?;
    Ok(0)
}

pub(super) fn arena_exchange(arena: Address, how: Int, expected: Size, new: Size) -> Result {
    let expected = match how {
        exchange::PUT => None,
        exchange::COMPARE => Some(expected),
        _ => return Err(Errno::EINVAL),
    };
    with_whole(arena, |place| Ok(u64::from(place.arena.publish(expected, new))))
}

pub(super) fn arena_status(arena: Address, status: Address) -> Result {
    let found = with_whole(arena, |place| Ok(place.status()))?;
    copy_out(status, &found)?;
    Ok(0)
}

pub(super) fn arena_next(after: Address, status: Address) -> Result {
    probe_write(status, size_of::<ArenaStatus>() as u64)?;
    let found = sema::next_arena(after)?;
    copy_out(status, &found)?;
    Ok(found.address)
}

pub(super) fn arena_history(arena: Address, command: Int, value: Long) -> Result {
    match command {
        history::ON => sema::switch_history(arena, true)?,
        history::OFF => sema::switch_history(arena, false)?,
        history::SIZE => {
            let most = u64::try_from(value).map_err(|_| Errno::EINVAL)?;
            with_whole(arena, |place| {
                place.arena.bound_history(most);
                Ok(())
            })?;
        }
        history::RESET => with_whole(arena, |place| {
            place.arena.reset_history();
            Ok(())
        })?,
        _ => return Err(Errno::EINVAL),
    }
    Ok(0)
}

pub(super) fn arena_records(arena: Address, buffer: Address, capacity: Size, records: Address) -> Result {
    probe_write(records, size_of::<Records>() as u64)?;
    loop {
        let extent = with_records(arena, |_, extent| extent)?;
        let entries = extent.positions.end - extent.positions.start;
        let written = if entries <= capacity { write_records(arena, buffer, &extent)? } else { Some(0) };
        if let Some(written) = written {
            let lost = if entries <= capacity { entries - written } else { 0 };
            copy_out(records, &Records { entries: entries - lost, errors: extent.errors + lost })?;
            return Ok(written);
        }
    }
}

/// Writes the records of `extent`, newest first, as far as they are still there; returns how many. None: the history was
/// emptied meanwhile. EFAULT: nothing was written.
fn write_records(arena: Address, buffer: Address, extent: &Extent) -> Result<Option<u64>> {
    const BYTES: u64 = size_of::<SemaRecord>() as u64;
    let (mut next, end) = (extent.positions.end, extent.positions.end);
    probe_write(buffer, (end - extent.positions.start) * BYTES)?;
    let mut some = Vec::new();
    some.try_reserve_exact(AT_ONCE).map_err(|_| Errno::ENOMEM)?;
    while next > extent.positions.start {
        some.clear();
        let resets = with_records(arena, |history, now| {
            take_some(history, arena, extent.positions.start..next, &mut some);
            now.resets
        })?;
        if resets != extent.resets {
            return Ok(None);
        }
        if some.is_empty() {
            break;
        }
        for record in &some {
            copy_out(buffer + (end - next) * BYTES, record)?;
            next -= 1;
        }
    }
    Ok(Some(end - next))
}

/// Appends the newest records at these positions to `some`, without growing it.
fn take_some(history: &History, arena: u64, positions: core::ops::Range<u64>, some: &mut Vec<SemaRecord>) {
    let there = positions.rev().map_while(|position| history.record(position));
    some.extend(there.take(AT_ONCE).map(|record| told(arena, record)));
}

fn told(arena: u64, record: &Record) -> SemaRecord {
    SemaRecord {
        semaphore: arena + u64::from(record.line) * LINE,
        pc: record.pc,
        time: rate().nanoseconds(record.time),
        operation: record.operation,
        count: record.count,
        pid: record.pid,
        tid: record.tid,
        woken_pid: record.woken.0,
        woken_tid: record.woken.1,
    }
}
