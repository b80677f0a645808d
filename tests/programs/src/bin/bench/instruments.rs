//! The semaphores of arenas, with their instruments off and on.

use std::arch::asm;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use userlib::Errno;
use userlib::arena::{Arena, Options};
use userlib::semaphore::{Semaphore, Switch};

use crate::calls::{calls_with_third, empty};
use crate::cpus::on_two;
use crate::measure::{BATCH, BATCHES, Figure, Outcome, batches, ticks};

unsafe extern "sysv64" {
    fn tally_semaphore_p(semaphore: u64) -> u64;
    fn tally_semaphore_v(semaphore: u64) -> u64;
}

fn told(errno: Errno) -> String {
    errno.to_string()
}

/// A semaphore of an arena that is this row's alone.
fn semaphore(count: u32) -> Result<(Arena, Semaphore), String> {
    let arena = Arena::join(c"bench", Options { size: 1 << 20, ..Options::default() }).map_err(told)?;
    Ok((arena, arena.semaphore(count).map_err(told)?))
}

/// V and P, as a program calls them: each with the load of its argument.
fn pair_row(semaphore: Semaphore) -> Figure {
    let pairs = || {
        let before = ticks();
        // SAFETY: the two functions keep all registers but those that calls may change.
        unsafe {
            asm!(
                "2:",
                "mov rdi, {semaphore}",
                "call {v}",
                "mov rdi, {semaphore}",
                "call {p}",
                "dec r12",
                "jnz 2b",
                semaphore = in(reg) semaphore.address(),
                inout("r12") BATCH => _,
                v = sym tally_semaphore_v,
                p = sym tally_semaphore_p,
                clobber_abi("sysv64"),
            );
        }
        ticks() - before
    };
    let nothing = || {
        let before = ticks();
        // SAFETY: counts a register down.
        unsafe { asm!("2:", "dec {left}", "jnz 2b", left = inout(reg) BATCH => _, options(nomem, nostack)) };
        ticks() - before
    };
    batches(pairs, nothing)
}

fn pair_with(switches: &[Switch]) -> Outcome {
    let (arena, semaphore) = semaphore(1)?;
    if switches.contains(&Switch::HistoryOn) {
        arena.bound_records(1000).and_then(|()| arena.record(true)).map_err(told)?;
    }
    switches.iter().try_for_each(|&switch| semaphore.switch(switch)).map_err(told)?;
    let figure = pair_row(semaphore);
    arena.record(false).and_then(|()| semaphore.free(arena)).map_err(told)?;
    Ok(figure)
}

pub(crate) fn pair() -> Outcome {
    pair_with(&[])
}

pub(crate) fn pair_metered() -> Outcome {
    pair_with(&[Switch::MeterOn])
}

/// Of the median batch: now and then a record begins a new piece of the history.
pub(crate) fn pair_traced() -> Outcome {
    pair_with(&[Switch::DebugOn, Switch::HistoryOn]).map(|figure| Figure { minimum: figure.median, ..figure })
}

/// Round trips between two LWPs with metered semaphores.
pub(crate) fn pingpong_metered() -> Outcome {
    let (_, there) = semaphore(0)?;
    let (_, back) = semaphore(0)?;
    [there, back].into_iter().try_for_each(|one| one.switch(Switch::MeterOn)).map_err(told)?;
    let rounds = BATCH * (BATCHES as u64 + 1);
    let other = thread::spawn(move || (0..rounds).try_for_each(|_| there.p().and_then(|()| back.v())));
    let trips = || {
        let before = ticks();
        for _ in 0..BATCH {
            there.v().and_then(|()| back.p()).expect("the other side answers");
        }
        ticks() - before
    };
    trips(); // until both are in their loops
    let figure = Figure::of_batches((0..BATCHES).map(|_| trips() as i64).collect());
    other.join().expect("it ends well").map_err(told)?;
    Ok(figure)
}

/// `CS_METERFETCH`.
pub(crate) fn fetch() -> Outcome {
    let (arena, semaphore) = semaphore(1)?;
    semaphore.switch(Switch::MeterOn).map_err(told)?;
    let mut meter = syscalls::sema::Meter::default();
    let place = (&raw mut meter).expose_provenance() as u64;
    let number = syscalls::number::sema_control as u64;
    let arguments = [semaphore.address(), syscalls::sema::control::METER_FETCH as u64, place];
    let mut failed = None;
    let figure = batches(
        || {
            // SAFETY: the place is this function's.
            let (ticks, result) = unsafe { calls_with_third(BATCH, number, arguments) };
            failed = failed.or(Errno::from_return(result).err());
            ticks
        },
        empty,
    );
    semaphore.free(arena).map_err(told)?;
    failed.map_or(Ok(figure), |errno| Err(told(errno)))
}

/// A round trip between two CPUs, in microseconds.
pub(crate) fn pingpong_2cpu() -> Outcome {
    const ROUNDS: u32 = 2000;
    let (_, there) = semaphore(0)?;
    let (_, back) = semaphore(0)?;
    let is_good = AtomicBool::new(true);
    let answer = || {
        for _ in 0..ROUNDS * BATCHES as u32 / 10 {
            is_good.fetch_and(there.p().and_then(|()| back.v()).is_ok(), SeqCst);
        }
    };
    let times = on_two(answer, || {
        let times = (0..BATCHES / 10).map(|_| {
            let begin = Instant::now();
            for _ in 0..ROUNDS {
                there.v().and_then(|()| back.p()).map_err(told)?;
            }
            Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS))
        });
        times.collect::<Result<Vec<f64>, String>>()
    })?;
    let best = times.into_iter().fold(f64::INFINITY, f64::min);
    if is_good.load(SeqCst) {
        Ok(Figure::of_number(best, "us"))
    } else {
        Err("the other side failed".to_owned())
    }
}
