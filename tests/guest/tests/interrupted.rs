//! K11: interrupts are nobody's time but the CPU's. Bites with the kernel option `tick=10000`, which has a busy program
//! interrupted 10 000 times a second; holds without it as well.

use std::time::Duration;

use guest::{assert_within, on_icount, user_loop};
use userlib::clock::{self, Clock};
use userlib::cpu;
use userlib::lwp;

/// A nanosecond of virtual time is an instruction.
const INSTRUCTIONS: u64 = 50_000_000;

fn clock_now() -> Duration {
    clock::now(Clock::MONOTONIC).expect("clock_gettime")
}

fn irq_time() -> Duration {
    cpu::all().map(|(_, times)| times.irq).sum()
}

#[test]
fn an_interrupted_program_pays_for_its_own_work_only() {
    let irq_before = irq_time();
    let (start, before) = (clock_now(), lwp::info().expect("_lwp_info"));
    user_loop(INSTRUCTIONS / 2);
    let (after, end) = (lwp::info().expect("_lwp_info"), clock_now());
    let irq = irq_time() - irq_before;
    let (used, elapsed) = (after - before, end - start);

    assert!(used.total() <= elapsed, "{used:?} in {elapsed:?}");
    if on_icount() {
        let own = Duration::from_nanos(INSTRUCTIONS);
        assert_within("user", used.user, own - own / 10_000..=own + own / 1_000);
        // With one CPU, what is not the program's is the interrupts', but for the cost of reading it all.
        if cpu::all().count() == 1 {
            let readings = Duration::from_micros(5);
            assert_within(
                "program and interrupts",
                used.total() + irq,
                elapsed - readings..=elapsed + readings,
            );
        }
    }
}
