//! `pingpong ROUNDS [CPU CPU]`: two LWPs, on these CPUs if they are given, wake each other in turn by a futex; prints
//! what a round trip takes.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use programs::now;
use userlib::{Errno, raw};

/// Whose turn it is: 0 or 1.
static TURN: AtomicU32 = AtomicU32::new(0);

fn main() -> ExitCode {
    let numbers: Result<Vec<u32>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (rounds, cpus) = match numbers.as_deref() {
        Ok([rounds @ 1..=u32::MAX]) => (*rounds, None),
        Ok([rounds @ 1..=u32::MAX, ping @ 0..64, pong @ 0..64]) => (*rounds, Some([*ping, *pong])),
        _ => {
            eprintln!("usage: pingpong ROUNDS [CPU CPU]");
            return ExitCode::from(2);
        }
    };
    match play(rounds, cpus) {
        Ok(nanoseconds) => {
            println!("{nanoseconds} ns a round trip");
            ExitCode::SUCCESS
        }
        Err(errno) => {
            eprintln!("pingpong: {errno}");
            ExitCode::FAILURE
        }
    }
}

/// Plays; nanoseconds for one round trip. The first round, in which the other LWP begins, is not counted.
fn play(rounds: u32, cpus: Option<[u32; 2]>) -> Result<u64, Errno> {
    // Before the game, where a CPU that is not there can still be told.
    cpus.map_or(Ok(()), |[ping, pong]| pin(pong).and_then(|()| pin(ping)))?;
    let other = thread::spawn(move || {
        cpus.map_or(Ok(()), |[_, pong]| pin(pong)).expect("the CPU was there before");
        (0..=rounds).for_each(|_| take_turn(1));
    });
    take_turn(0);
    await_turn(0);
    let begin = now();
    for _ in 0..rounds {
        take_turn(0);
        await_turn(0);
    }
    let elapsed = now() - begin;
    other.join().expect("the other LWP ends well");
    Ok((elapsed / rounds).as_nanos() as u64)
}

/// Waits for `player`'s turn, and gives it to the other.
fn take_turn(player: u32) {
    const WAKE_PRIVATE: i32 = 129;
    await_turn(player);
    TURN.store(1 - player, SeqCst);
    // SAFETY: wakes; nothing is written.
    unsafe { raw::futex(word(), WAKE_PRIVATE, 1, 0, 0, 0) };
}

fn await_turn(player: u32) {
    const WAIT_PRIVATE: i32 = 128;
    while TURN.load(SeqCst) != player {
        // SAFETY: the word is there for ever; there is no time-out.
        unsafe { raw::futex(word(), WAIT_PRIVATE, 1 - player, 0, 0, 0) };
    }
}

fn word() -> u64 {
    TURN.as_ptr().expose_provenance() as u64
}

/// Lets the caller run on this CPU only. EINVAL: there is none.
fn pin(cpu: u32) -> Result<(), Errno> {
    let mask = 1_u64 << cpu;
    // SAFETY: the mask is this function's.
    let result = unsafe { raw::sched_setaffinity(0, 8, (&raw const mask).expose_provenance() as u64) };
    Errno::from_return(result).map(|_| ())
}
