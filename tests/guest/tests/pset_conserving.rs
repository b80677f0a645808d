//! No CPU of a set idles while an LWP of the set waits that may use it: whatever lets the LWP use it, the CPU takes it at once.
//!
//! Two LWPs spin on the first CPU, and the caller runs there, so that both wait; the second CPU is idle. Then it is opened to
//! one of them, or to both.

use std::thread;
use std::time::Duration;

use guest::{Set, Spinner, allow, alone, call, cpus};
use syscalls::number;
use userlib::cpu::{self, CpuId};
use userlib::pset::{self, PsetId, Who};

/// How long the second CPU idles on at most, in the best of some tries: less than one slice, which is 10 ms.
const AT_ONCE: Duration = Duration::from_millis(6);
const TRIES: usize = 8;

fn idle_time() -> Duration {
    cpu::times(CpuId::from_raw(1)).expect("the second CPU").idle
}

fn set_nice(spinner: &Spinner, nice: i32) {
    let arguments = [libc::PRIO_PROCESS as u64, spinner.lwp.raw() as u64, nice as u64];
    // SAFETY: changes who goes first only.
    unsafe { call(number::setpriority, &arguments) }.expect("setpriority");
}

/// Two spin on the first CPU; then the second CPU is opened to the latter of them. How long it idles on.
fn idles_on<T>(nice: i32, shut: impl Fn(&Spinner) -> T, open: impl Fn(&Spinner, &T)) -> Duration {
    let spinners = [Spinner::silent(), Spinner::silent()];
    assert!(spinners.iter().all(|spinner| allow(spinner.lwp.raw(), 0b11)), "not only where the caller is");
    let kept = spinners.each_ref().map(shut);
    set_nice(&spinners[1], nice);
    thread::sleep(Duration::from_millis(30));
    let before = idle_time();
    open(&spinners[1], &kept[1]);
    thread::sleep(Duration::from_millis(100));
    idle_time() - before
}

/// However nice the LWP is.
fn goes_there_at_once<T>(shut: impl Fn(&Spinner) -> T, open: impl Fn(&Spinner, &T)) {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    assert!(allow(0, 1));
    for nice in [0, 19] {
        let tries = (0..TRIES).map(|_| idles_on(nice, &shut, &open));
        let late: Vec<Duration> = tries.take_while(|&idle| idle >= AT_ONCE).collect();
        assert!(late.len() < TRIES, "nice {nice}: the second CPU idled on for {late:.1?} of 100 ms");
    }
    assert!(allow(0, u64::MAX));
}

#[test]
fn who_is_bound_no_more_goes_to_an_idle_cpu() {
    let bind = |cpu: Option<i32>, spinner: &Spinner| {
        pset::bind_to_cpu(cpu.map(CpuId::from_raw), Who::Lwp(spinner.lwp)).expect("processor_bind");
    };
    goes_there_at_once(|spinner| bind(Some(0), spinner), |spinner, ()| bind(None, spinner));
}

#[test]
fn whose_mask_grows_goes_to_an_idle_cpu() {
    let allow = |mask: u64, spinner: &Spinner| assert!(allow(spinner.lwp.raw(), mask));
    goes_there_at_once(|spinner| allow(1, spinner), |spinner, ()| allow(0b11, spinner));
}

/// While there is no other CPU: all but the first are in sets.
fn others_in_a_set(_: &Spinner) -> Set {
    let others: Vec<i32> = (1..cpus() as i32).collect();
    Set::of(&others)
}

#[test]
fn a_cpu_that_is_brought_into_a_set_takes_who_waits() {
    goes_there_at_once(others_in_a_set, |_, _| {
        pset::assign(PsetId::DEFAULT, CpuId::from_raw(1)).expect("pset_assign");
    });
}

#[test]
fn a_cpu_whose_set_is_destroyed_takes_who_waits() {
    goes_there_at_once(others_in_a_set, |_, set| pset::destroy(set.0).expect("pset_destroy"));
}
