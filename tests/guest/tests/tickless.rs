//! The timer interrupts only where there is something to time: the point on accounting.

use std::thread;
use std::time::Duration;

use guest::{assert_within, on_icount};
use userlib::cpu;

fn irq_time() -> Duration {
    cpu::all().map(|(_, times)| times.irq).sum()
}

/// The interrupts that come while the only LWP sleeps.
fn interrupts_of_a_sleep(length: Duration) -> Duration {
    let before = irq_time();
    thread::sleep(length);
    irq_time() - before
}

/// In virtual time interrupts of one kind take equally long, and a sleep takes no time. Four seconds, which is near the
/// longest that the timer can be set for, end with one interrupt like a millisecond, and with a second, shorter one where
/// the timer, whose rate is measured, was a little early. (Red with a tick of one second in place of none.)
#[test]
fn a_long_sleep_takes_no_more_interrupts_than_a_short_one() {
    if !on_icount() {
        return;
    }
    thread::sleep(Duration::from_millis(50)); // what was set for a slice goes off, the console's input has ended
    let short = interrupts_of_a_sleep(Duration::from_millis(1));
    let long = interrupts_of_a_sleep(Duration::from_secs(4));
    assert_within("interrupts", long, short..=short + short / 2);
}
