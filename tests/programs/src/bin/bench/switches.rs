//! One LWP after another on one CPU.

use std::thread;

use userlib::Errno;

use crate::calls::{calls, empty};
use crate::crowd::{Call, Crowd, give_way};
use crate::measure::{BATCH, BATCHES, Figure, Outcome, batches, ticks};
use crate::semaphore::{Counting, Musl, Semaphore};

/// LWPs that take turns in the larger of the two rows, the one that measures among them.
const MANY: u32 = 10_000;

const YIELD: Call = Call { number: syscalls::number::sched_yield, arguments: [0; 3] };

/// Half of a batch's calls are made by another LWP. Its loop takes as many instructions as the batch's own.
pub(crate) fn yield_switch() -> Outcome {
    with_others(1, || batches(|| yield_times(BATCH / 2), empty))
}

/// In a batch everybody has one turn.
pub(crate) fn yield_switch_in_crowd() -> Outcome {
    const SWITCHES: i64 = MANY as i64;
    let loops = 2 * SWITCHES; // two instructions around each call
    with_others(MANY - 1, || {
        let rounds = (0..BATCHES).map(|_| yield_times(1) as i64 - loops);
        Figure::of_batches(rounds.map(|ticks| ticks * BATCH as i64 / SWITCHES).collect())
    })
}

fn yield_times(rounds: u64) -> u64 {
    // SAFETY: the call has no arguments.
    unsafe { calls(rounds, YIELD.number as u64, 0, 0).0 }
}

/// Measures while so many others yield all the time.
fn with_others(count: u32, measure: impl FnOnce() -> Figure) -> Outcome {
    static OTHERS: Crowd = Crowd::new();
    let started = OTHERS.start(count, YIELD).map_err(told);
    give_way(); // once, so that each is in its loop
    let outcome = started.map(|()| measure());
    OTHERS.stop(give_way);
    outcome
}

/// Round trips between two LWPs, each of which sleeps while the other is awake.
pub(crate) fn futex_pingpong() -> Outcome {
    static THERE: Semaphore = Semaphore::new();
    static BACK: Semaphore = Semaphore::new();
    pingpong(&THERE, &BACK)
}

/// The same with musl's semaphores, which wait actively for a while first: here always in vain.
pub(crate) fn futex_pingpong_musl() -> Outcome {
    static THERE: Musl = Musl::new();
    static BACK: Musl = Musl::new();
    THERE.start();
    BACK.start();
    pingpong(&THERE, &BACK)
}

fn pingpong<S: Counting>(there: &'static S, back: &'static S) -> Outcome {
    let other = thread::spawn(move || {
        for _ in 0..BATCHES as u64 * BATCH {
            there.wait();
            back.post();
        }
    });
    let figure = batches(
        || {
            let before = ticks();
            for _ in 0..BATCH {
                there.post();
                back.wait();
            }
            ticks() - before
        },
        || 0, // what the semaphores do in user mode is a part of the round trip
    );
    other.join().map_err(|_| "the other thread failed".to_owned())?;
    Ok(figure)
}

fn told(errno: Errno) -> String {
    errno.to_string()
}
