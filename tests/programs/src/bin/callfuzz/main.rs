//! `callfuzz SEED COUNT [THREADS]`: makes COUNT random system calls, and as many in every further thread.
//!
//! Calls and the kinds of their arguments come from the table, values from pools of what hurts: pointers of every bad
//! kind, odd integers, pages that come and go. A kernel that panics, hangs or answers with a number that is no errno has
//! failed. Calls that would end the program, make another, or wait for ever are left out ([`rules`]); input is to be empty
//! (`</dev/null`). The same seed makes the same calls in the same order.

mod ground;
mod rules;
mod values;

use std::process::ExitCode;
use std::thread;

use programs::usage;
use syscalls::{Errno, ROWS, Row, number};

use ground::Ground;
use values::{Random, Values};

/// After so many calls the ground is as at first again.
const REPAIR_EVERY: u64 = 64;

fn main() -> ExitCode {
    usage::run("callfuzz", "callfuzz SEED COUNT [THREADS]", |arguments| {
        usage::at_most(3, arguments)?;
        let [seed, count, threads @ ..] = arguments else {
            return Err("must specify a seed and a count".into());
        };
        let wanted = "a whole number from 0 on is wanted";
        let few = |word: &str| usage::number(word).filter(|threads| (1..=64).contains(threads));
        let threads = threads
            .first()
            .map(|word| usage::operand("number of threads", word, "1 to 64 are wanted", few))
            .transpose()?;
        fuzz_all(
            usage::operand("seed", seed, wanted, usage::number)?,
            usage::operand("count", count, wanted, usage::number)?,
            threads.unwrap_or(1),
        );
        Ok(ExitCode::SUCCESS)
    })
}

fn fuzz_all(seed: u64, count: u64, threads: u64) {
    println!("callfuzz: seed {seed}, {count} calls in each of {threads} thread(s)");
    let workers: Vec<_> =
        (0..threads).map(|thread| thread::spawn(move || fuzz(seed, count, thread))).collect();
    let answered = workers.into_iter().map(|worker| worker.join().expect("a worker ends well"));
    let [succeeded, refused] = answered.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    println!("callfuzz: {succeeded} calls succeeded, {refused} were refused");
}

/// Makes `count` calls; returns how many succeeded and how many did not.
fn fuzz(seed: u64, count: u64, thread: u64) -> [u64; 2] {
    let ground = Ground::new(thread);
    let mut values = Values::new(Random::new(seed ^ thread.wrapping_mul(0x9e37_79b9)), &ground);
    let mut answers = [0, 0];
    let mut made = 0;
    while made < count {
        if made.is_multiple_of(REPAIR_EVERY) {
            ground.repair();
        }
        let Some((number, arguments)) = next_call(&mut values, &ground) else { continue };
        // SAFETY: what the arguments name is the ground's, or nobody's.
        let result = Errno::from_return(unsafe { call(number, arguments) });
        answers[usize::from(result.is_err())] += 1;
        rules::clean_up(number, arguments, result, &ground);
        made += 1;
    }
    answers
}

/// A call to make, unless the one that came up would do harm.
fn next_call(values: &mut Values, ground: &Ground) -> Option<(usize, [u64; 6])> {
    if values.random.one_in(32) {
        let number = values.size() as usize;
        return syscalls::row(number).is_none().then(|| (number, [(); 6].map(|()| values.size())));
    }
    let row: &Row = &ROWS[values.random.below(ROWS.len() as u64) as usize];
    let mut arguments = [0; 6];
    for (place, &(name, kind)) in arguments.iter_mut().zip(row.arguments) {
        *place = values.argument(row.name, name, kind);
    }
    rules::is_harmless(row, &arguments, ground).then_some((row.number, arguments))
}

/// Makes a call by its number.
///
/// # Safety
/// The arguments name nothing that is used.
unsafe fn call(number: usize, [rdi, rsi, rdx, r10, r8, r9]: [u64; 6]) -> u64 {
    let result: u64;
    // SAFETY: handed on to the caller.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") number as u64 => result, in("rdi") rdi, in("rsi") rsi,
            in("rdx") rdx, in("r10") r10, in("r8") r8, in("r9") r9, lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    let code = result.wrapping_neg();
    let known = !(1..=4095).contains(&code) || Errno::from_code(code as u16).is_some();
    assert!(known, "call {number} ({:x?}) gave −{code}", [rdi, rsi, rdx, r10, r8, r9]);
    result
}

/// Unmaps what lies there.
///
/// # Safety
/// It is nobody's.
unsafe fn unmap(address: u64, length: u64) {
    // SAFETY: handed on to the caller.
    unsafe { call(number::munmap, [address, length, 0, 0, 0, 0]) };
}
