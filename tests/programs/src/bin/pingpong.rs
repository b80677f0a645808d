//! `pingpong ROUNDS [CPU CPU]`: two LWPs, on these CPUs if they are given, wake each other in turn by a futex; prints
//! what a round trip takes.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use programs::{futex, now, pin, usage};

/// Whose turn it is: 0 or 1.
static TURN: AtomicU32 = AtomicU32::new(0);

fn main() -> ExitCode {
    usage::run("pingpong", "pingpong ROUNDS [CPU CPU]", |arguments| {
        usage::at_most(3, arguments)?;
        let (rounds, cpus) = match arguments {
            [] => return Err("must specify how many rounds".into()),
            [_, _] => return Err("must specify two CPUs, or none".into()),
            [rounds] => (rounds, None),
            [rounds, ping, pong, ..] => (rounds, Some([cpu(ping)?, cpu(pong)?])),
        };
        let wanted = "a whole number from 1 to 4294967295 is wanted";
        let above_zero = |word: &str| usage::number(word).filter(|&number: &u32| number > 0);
        let rounds = usage::operand("number of rounds", rounds, wanted, above_zero)?;
        match play(rounds, cpus) {
            Ok(nanoseconds) => println!("{nanoseconds} ns a round trip"),
            Err(problem) => {
                eprintln!("pingpong: {problem}");
                return Ok(ExitCode::FAILURE);
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn cpu(word: &str) -> Result<u32, String> {
    let below_64 = |word: &str| usage::number(word).filter(|&cpu: &u32| cpu < 64);
    usage::operand("CPU", word, "a number from 0 to 63 is wanted", below_64)
}

/// Keeps the caller on a CPU, or says why not.
fn keep_on(cpu: u32) -> Result<(), String> {
    pin(cpu).map_err(|errno| format!("cannot run on CPU {cpu}: {errno}; psrinfo lists the CPUs"))
}

/// Plays; nanoseconds for one round trip. The first round, in which the other LWP begins, is not counted.
fn play(rounds: u32, cpus: Option<[u32; 2]>) -> Result<u64, String> {
    // Before the game, where a CPU that is not there can still be told.
    cpus.map_or(Ok(()), |[ping, pong]| keep_on(pong).and_then(|()| keep_on(ping)))?;
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
