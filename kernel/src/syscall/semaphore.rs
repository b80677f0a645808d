//! Semaphores.

use super::pointer::copy_in_time;
use super::{Address, Int, Result, Size};
use crate::arch::clock;
use crate::mm::heap::try_box;
use crate::mm::user::{copy_out, probe_write};
use crate::sema::{self, Place, Watched, with_semaphore, with_whole};
use kcore::sema::{self as core_sema, LINE, Patience, Reading, User, Waits};
use syscalls::Errno;
use syscalls::sema::{Debug, MOST_INITIAL, Meter, MeterExtension, SemaStatus, control, patience};

/// What a test returns is raised by this, so that no count looks like an error.
const TEST_BIAS: i64 = 1 << 31;

pub(super) fn sema_new(arena: Address, value: Int) -> Result {
    let tokens = initial(value)?;
    with_whole(arena, |place| {
        let line = place.arena.new_semaphore(&place.pages, tokens, clock())?;
        Ok(arena + u64::from(line) * LINE)
    })
}

pub(super) fn sema_init(semaphore: Address, value: Int) -> Result {
    sema::re_initialise(semaphore, initial(value)?)?;
    Ok(0)
}

fn initial(value: Int) -> Result<u32> {
    if (0..=MOST_INITIAL).contains(&value) { Ok(value as u32) } else { Err(Errno::EINVAL) }
}

pub(super) fn sema_free(semaphore: Address, arena: Address) -> Result {
    sema::end(semaphore, arena)?;
    Ok(0)
}

pub(super) fn sema_acquire(semaphore: Address, pc: Address, how: Int, time: Address) -> Result {
    let (patience, nanoseconds) = match how {
        patience::WAIT => (Patience::Wait, None),
        patience::NONE => (Patience::None, None),
        patience::TIMED => match copy_in_time(time)? {
            0 => (Patience::ZeroTime, None),
            nanoseconds => (Patience::Wait, Some(nanoseconds)),
        },
        _ => return Err(Errno::EINVAL),
    };
    sema::acquire(semaphore, pc, patience, nanoseconds).map(u64::from)
}

pub(super) fn sema_release(semaphore: Address, pc: Address) -> Result {
    sema::release(semaphore, pc)?;
    Ok(0)
}

pub(super) fn sema_test(semaphore: Address) -> Result {
    let count = with_semaphore(semaphore, |place, ticket| Ok(place.arena.test(&place.pages, ticket)))?;
    Ok((i64::from(count) + TEST_BIAS) as u64)
}

pub(super) fn sema_control(semaphore: Address, command: Int, argument: Address) -> Result {
    match command {
        control::METER_FETCH => fetch_meter(semaphore, argument),
        _ => control_rarely(semaphore, command, argument),
    }
}

/// Apart, so that a fetch of the meter is short.
#[inline(never)]
fn control_rarely(semaphore: Address, command: Int, argument: Address) -> Result {
    match command {
        control::METER_EXTENSION => fetch_extension(semaphore, argument),
        control::DEBUG_FETCH => fetch_debug(semaphore, argument),
        control::METER_ON => meter_on(semaphore),
        _ => switch(semaphore, command),
    }?;
    Ok(0)
}

#[inline]
fn fetch_meter(semaphore: Address, to: Address) -> Result {
    let reading = with_semaphore(semaphore, |place, ticket| place.arena.reading(&place.pages, ticket))?;
    copy_out(to, &meter(&reading))?;
    Ok(0)
}

#[inline]
fn meter(reading: &Reading) -> Meter {
    let figure = |count: u64| count.min(i32::MAX as u64) as i32;
    Meter {
        hits: figure(reading.hits),
        acquires: figure(reading.acquires),
        releases: figure(reading.releases),
        free_releases: figure(reading.free_releases),
        waiting: reading.waiting as i32,
        most_waiting: reading.most_waiting as i32,
    }
}

fn fetch_extension(semaphore: Address, to: Address) -> Result<()> {
    let (reading, waits) =
        with_semaphore(semaphore, |place, ticket| place.arena.waits(&place.pages, ticket))?;
    let Waits { total, longest, count, buckets } = waits;
    let extension = MeterExtension {
        wait_total: total,
        wait_longest: longest,
        waits: count,
        tokens: reading.tokens,
        tokens_before: reading.tokens_before,
        buckets,
    };
    copy_out(to, &extension)
}

fn fetch_debug(semaphore: Address, to: Address) -> Result<()> {
    let record = with_semaphore(semaphore, |place, ticket| place.arena.debug(ticket))?;
    copy_out(to, &debug(&record))
}

fn debug(record: &core_sema::Debug) -> Debug {
    let told = |user: Option<User>| user.map_or((-1, u64::MAX), |user| (user.pid as i32, user.pc));
    let ((owner_pid, owner_pc), (last_pid, last_pc)) = (told(record.owner), told(record.last));
    Debug { owner_pid, pad: 0, owner_pc, last_pid, last_pad: 0, last_pc }
}

fn meter_on(semaphore: Address) -> Result<()> {
    let meter = try_box(core_sema::Meter::new(0, 0))?;
    with_semaphore(semaphore, |place, ticket| place.arena.meter_on(&place.pages, ticket, meter))
}

fn switch(semaphore: Address, command: Int) -> Result<()> {
    let switch = |place: &mut Place, ticket| {
        let (arena, pages) = (&mut place.arena, &place.pages);
        match command {
            control::METER_OFF => arena.meter_off(ticket),
            control::METER_RESET => arena.meter_reset(pages, ticket),
            control::DEBUG_ON => arena.debug_on(pages, ticket)?,
            control::DEBUG_OFF => arena.debug_off(pages, ticket),
            control::DEBUG_RESET => arena.debug_reset(ticket),
            control::HISTORY_ON => arena.keep_history(pages, ticket, true),
            control::HISTORY_OFF => arena.keep_history(pages, ticket, false),
            control::RECURSION_ON => arena.set_recursion(pages, ticket, true)?,
            control::RECURSION_OFF => arena.set_recursion(pages, ticket, false)?,
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    };
    with_semaphore(semaphore, |place, ticket| place.change_records(|place| switch(place, ticket)))
}

pub(super) fn sema_next(after: Size, status: Address) -> Result {
    probe_write(status, size_of::<SemaStatus>() as u64)?;
    let watched = sema::next_semaphore(after)?;
    copy_out(status, &described(&watched))?;
    Ok(watched.key)
}

fn described(watched: &Watched) -> SemaStatus {
    let status = &watched.status;
    let (meter, wait_total) =
        status.meter.as_ref().map_or((Meter::default(), 0), |(reading, waits)| (meter(reading), waits.total));
    SemaStatus {
        address: watched.arena + u64::from(status.line) * LINE,
        arena: watched.arena,
        tokens: status.tokens,
        waiting: status.waiting,
        flags: status.flags,
        initial: status.initial,
        meter,
        debug: debug(&status.debug.unwrap_or_default()),
        wait_total,
    }
}
