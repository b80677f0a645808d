//! `burn SECONDS USER%`: burns CPU time, that share of it in user mode, in bursts of about a millisecond; then prints
//! what it was billed.

use std::process::ExitCode;
use std::time::Duration;

use programs::{compute, enter_kernel, milliseconds, now, usage};

fn main() -> ExitCode {
    usage::run("burn", "burn SECONDS USER%", |arguments| {
        usage::at_most(2, arguments)?;
        let [seconds, percent] = arguments else { return Err("must specify seconds and a share".into()) };
        burn(
            usage::operand("number of seconds", seconds, "0 or more are wanted", length)?,
            usage::operand("share", percent, "per cent from 0 to 100 are wanted", share)?,
        );
        report();
        Ok(ExitCode::SUCCESS)
    })
}

fn length(word: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(word.parse().ok()?).ok()
}

fn share(word: &str) -> Option<f64> {
    word.parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).map(|percent: f64| percent / 100.0)
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
