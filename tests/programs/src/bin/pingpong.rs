//! `pingpong ROUNDS [CPU CPU]`: two LWPs, on these CPUs if they are given, wake each other in turn by a futex; prints
//! what a round trip takes.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use programs::{futex, now, pin};
use userlib::Errno;

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
    await_turn(player);
    TURN.store(1 - player, SeqCst);
    futex::wake(&TURN, 1);
}

fn await_turn(player: u32) {
    while TURN.load(SeqCst) != player {
        futex::wait(&TURN, 1 - player);
    }
}
