//! The main job, shown: a program that works in user mode, in the kernel, in both by turns, and not at all; what it
//! did by the clock, what it was billed, and the difference.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use programs::{compute, enter_kernel, milliseconds, now, usage};
use userlib::lwp::{self, LwpId, Microstates};

/// How long each phase lasts, about.
const PHASE: Duration = Duration::from_millis(250);

/// Where the time went, by the program's own clock readings.
#[derive(Default)]
struct ByTheClock {
    user: Duration,
    system: Duration,
    asleep: Duration,
}

impl ByTheClock {
    fn compute(&mut self) {
        spend(&mut self.user, compute);
    }

    fn enter_kernel(&mut self, buffer: &mut [u8]) {
        spend(&mut self.system, || enter_kernel(buffer));
    }

    fn sleep(&mut self) {
        spend(&mut self.asleep, || thread::sleep(PHASE));
    }
}

/// Adds to `spent` the time that `work` takes by the clock.
fn spend(spent: &mut Duration, work: impl FnOnce()) {
    let before = now();
    work();
    *spent += now() - before;
}

fn main() -> ExitCode {
    usage::run("demo", "demo", |arguments| {
        usage::at_most(0, arguments)?;
        demonstrate();
        Ok(ExitCode::SUCCESS)
    })
}

fn demonstrate() {
    println!(
        "A program does four things and times itself by the clock (ms); beside it is what the kernel bills it."
    );
    println!(
        "The difference is the cost of reading clock and bill, and of entering and leaving the kernel.\n"
    );
    println!("{:<13} {:<7} {:>13} {:>13} {:>13}", "phase", "time", "by the clock", "billed", "difference");
    let mut buffer = vec![1; 16_384];
    phase("user-heavy", ByTheClock::compute);
    phase("system-heavy", |spent| spent.enter_kernel(&mut buffer));
    phase("mixed", |spent| {
        spent.compute();
        spent.enter_kernel(&mut buffer);
    });
    phase("sleeping", ByTheClock::sleep);
    report_life(&states());
}

/// Does one kind of work for the length of a phase, and prints what became of the time.
fn phase(name: &str, mut step: impl FnMut(&mut ByTheClock)) {
    let mut clock = ByTheClock::default();
    let slept = states().sleeping;
    let bill = lwp::info().expect("_lwp_info");
    let end = now() + PHASE;
    while now() < end {
        step(&mut clock);
    }
    let used = lwp::info().expect("_lwp_info") - bill;
    row(name, "user", clock.user, used.user);
    row("", "system", clock.system, used.system);
    row("", "asleep", clock.asleep, states().sleeping - slept);
}

/// `_lwp_info` knows user and system time; the microstates know sleep as well.
fn states() -> Microstates {
    lwp::microstates(LwpId::CALLER).expect("lwp_microstates")
}

/// Prints a line of the table, where there is anything to tell.
fn row(name: &str, kind: &str, clock: Duration, billed: Duration) {
    if clock.max(billed).is_zero() && name.is_empty() {
        return;
    }
    let (clock, billed) = (milliseconds(clock), milliseconds(billed));
    println!("{name:<13} {kind:<7} {clock:>13.6} {billed:>13.6} {:>+13.6}", billed - clock);
}

fn report_life(life: &Microstates) {
    println!("\nIts whole life: {:.6} ms, of which", milliseconds(life.lifetime));
    println!(
        "{:.6} user, {:.6} system, {:.6} asleep, {:.6} waiting for a CPU.",
        milliseconds(life.user),
        milliseconds(life.system),
        milliseconds(life.sleeping),
        milliseconds(life.runnable)
    );
}
