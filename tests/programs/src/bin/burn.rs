//! `burn SECONDS USER%`: burns CPU time, that share of it in user mode, in bursts of about a millisecond; then prints
//! what it was billed.

use std::process::ExitCode;
use std::time::Duration;

use programs::{compute, enter_kernel, milliseconds, now};

fn main() -> ExitCode {
    let arguments: Vec<f64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [seconds, percent @ 0.0..=100.0] = arguments[..] else { return usage() };
    let Ok(length) = Duration::try_from_secs_f64(seconds) else { return usage() };
    burn(length, percent / 100.0);
    report();
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: burn SECONDS USER%");
    ExitCode::from(2)
}

/// Goes by the clock: whichever kind of work is behind its share is done next.
fn burn(length: Duration, user_share: f64) {
    let mut buffer = vec![1; 4096];
    let (start, mut user) = (now(), Duration::ZERO);
    loop {
        let burst = now();
        let elapsed = burst - start;
        if elapsed >= length {
            return;
        }
        if user < elapsed.mul_f64(user_share) {
            compute();
            user += now() - burst;
        } else if user_share < 1.0 {
            enter_kernel(&mut buffer);
        }
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
