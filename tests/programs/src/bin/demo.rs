//! The main job, shown: a program that works in user mode, in the kernel, in both by turns, and not at all; what it
//! did by the clock, what it was billed, and the difference.

use std::thread;
use std::time::Duration;

use programs::{compute, enter_kernel, milliseconds, now};
use userlib::lwp::{self, LwpId, Microstates};

/// How long each phase lasts.
const PHASE: Duration = Duration::from_millis(250);

/// Where the time went, by the program's own clock readings.
#[derive(Default)]
struct ByTheClock {
    user: Duration,
    system: Duration,
    asleep: Duration,
}

fn main() {
    println!(
        "A program does four things and times itself by the clock (ms). Beside it: what the kernel billed it."
    );
    println!(
        "The difference is what it costs to read the clock and the bill, and to enter and leave the kernel.\n"
    );
    println!("{:<12} {:<9} {:>13} {:>13} {:>13}", "phase", "time", "by the clock", "billed", "difference");
    phase("user-heavy", |spent| spend(&mut spent.user, compute));
    phase("system-heavy", |spent| spend(&mut spent.system, enter_kernel));
    phase("mixed", |spent| {
        spend(&mut spent.user, compute);
        spend(&mut spent.system, enter_kernel);
    });
    phase("sleeping", |spent| spend(&mut spent.asleep, || thread::sleep(PHASE)));
    let total = lwp::info().expect("_lwp_info");
    println!("\nBilled in all by _lwp_info: {:?} user, {:?} system.", total.user, total.system);
}

/// Does one kind of work for the length of a phase, and prints what became of the time.
fn phase(name: &str, step: impl Fn(&mut ByTheClock)) {
    let mut clock = ByTheClock::default();
    let (bill_before, states_before) = bill();
    let end = now() + PHASE;
    while now() < end {
        step(&mut clock);
    }
    let (bill_after, states_after) = bill();
    let used = bill_after - bill_before;
    row(name, "user", clock.user, used.user);
    row("", "system", clock.system, used.system);
    row("", "sleeping", clock.asleep, states_after.sleeping - states_before.sleeping);
}

/// The bill so far: `_lwp_info` knows user and system time, the microstates know sleep.
fn bill() -> (lwp::CpuTime, Microstates) {
    let states = lwp::microstates(LwpId::CALLER).expect("lwp_microstates");
    (lwp::info().expect("_lwp_info"), states)
}

/// Adds to `spent` the time that `work` takes by the clock.
fn spend(spent: &mut Duration, work: impl FnOnce()) {
    let before = now();
    work();
    *spent += now() - before;
}

fn row(name: &str, kind: &str, clock: Duration, billed: Duration) {
    let (clock, billed) = (milliseconds(clock), milliseconds(billed));
    println!("{name:<12} {kind:<9} {clock:>13.6} {billed:>13.6} {:>+13.6}", billed - clock);
}
