//! `burn SECONDS USER%`: burns CPU time, that share of it in user mode, in bursts of about a millisecond; then prints
//! what it was billed.

use std::process::ExitCode;
use std::time::Duration;

use programs::{compute, enter_kernel, milliseconds, now};

/// One burst of user mode and one of kernel mode together.
const ROUND: Duration = Duration::from_millis(2);

fn main() -> ExitCode {
    let arguments: Vec<f64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [seconds, user @ 0.0..=100.0] = arguments[..] else { return usage() };
    let Ok(length) = Duration::try_from_secs_f64(seconds) else { return usage() };

    let end = now() + length;
    while now() < end {
        burst(ROUND.mul_f64(user / 100.0), compute);
        burst(ROUND.mul_f64(1.0 - user / 100.0), enter_kernel);
    }
    report();
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: burn SECONDS USER%");
    ExitCode::from(2)
}

fn burst(length: Duration, work: fn()) {
    let end = now() + length;
    while now() < end {
        work();
    }
}

fn report() {
    match userlib::lwp::info() {
        Ok(time) => println!(
            "{:.3} ms user ({:.2} %), {:.3} ms system",
            milliseconds(time.user),
            100.0 * time.user.as_secs_f64() / time.total().as_secs_f64(),
            milliseconds(time.system)
        ),
        Err(error) => eprintln!("burn: no bill: {error}"),
    }
}
