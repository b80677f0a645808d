//! Load averages: what n was between two readings follows from the two, so the laws of load are checked without waiting for
//! minutes. L' = (n - L)/T, hence L2 = n - (n - L1) exp(-t/T) where n is constant; otherwise it is n's mean.

use std::thread;
use std::time::{Duration, Instant};

use guest::{Set, Spinner, alone, assert_within, cpus, on_icount};
use userlib::pset::{self, PsetId, Who};

/// How far a measured load may be off: by the moments between reading the clock and the averages.
fn tolerance() -> f64 {
    if on_icount() { 0.002 } else { 0.3 }
}

/// How long is measured: on a busy host longer, so that its pauses matter less.
fn while_measured() -> Duration {
    Duration::from_millis(if on_icount() { 100 } else { 500 })
}

/// The mean number of runnable LWPs of a set, by the average over a minute, while the caller sleeps.
fn load_of(set: PsetId) -> f64 {
    let (begin, first) = (Instant::now(), pset::load_averages(set).unwrap()[0]);
    thread::sleep(while_measured());
    let (end, second) = (Instant::now(), pset::load_averages(set).unwrap()[0]);
    let left = (-(end - begin).as_secs_f64() / 60.0).exp();
    (second - first * left) / (1.0 - left)
}

/// Without virtual time one measurement of several has to do: a busy host stops CPUs in the middle of one.
#[track_caller]
fn assert_load(set: PsetId, expected: f64) {
    let attempts = if on_icount() { 1 } else { 10 };
    let measured = (0..attempts).map(|_| load_of(set));
    let wrong: Vec<f64> = measured.take_while(|load| (load - expected).abs() > tolerance()).collect();
    assert!(wrong.len() < attempts, "load {wrong:.3?}, expected {expected}");
}

/// Runs and waits are load, on however few CPUs; sleep is none.
#[test]
fn load_is_who_runs_or_waits() {
    let _alone = alone();
    assert_load(PsetId::DEFAULT, 0.0);
    for count in [1, 2, 5] {
        let _spinners: Vec<Spinner> = (0..count).map(|_| Spinner::start()).collect();
        assert_load(PsetId::DEFAULT, f64::from(count));
    }
    let (tell, told) = std::sync::mpsc::channel::<()>();
    let sleeper = thread::spawn(move || told.recv());
    assert_load(PsetId::DEFAULT, 0.0);
    drop(tell);
    assert!(sleeper.join().unwrap().is_err());
}

/// A job that is busy half the time is half a load, in whichever step.
#[test]
fn k15_a_job_in_step_reads_its_mean() {
    let _alone = alone();
    if !on_icount() {
        return; // a busy host has no steps
    }
    let job = thread::spawn(|| {
        let begin = Instant::now();
        for step in 0..30u32 {
            while begin.elapsed() < Duration::from_millis(10) * step + Duration::from_millis(5) {
                std::hint::spin_loop();
            }
            thread::sleep((Duration::from_millis(10) * (step + 1)).saturating_sub(begin.elapsed()));
        }
    });
    assert_within("load", load_of(PsetId::DEFAULT), 0.49..=0.51);
    job.join().unwrap();
}

/// LWPs carry their load with them, at once; a CPU that moves carries none.
#[test]
fn binding_moves_load_and_moving_cpus_does_not() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let set = Set::of(&[1]);
    assert_eq!(pset::load_averages(set.0), Ok([0.0; 3]), "a new set has none");
    let spinners: Vec<Spinner> = (0..3).map(|_| Spinner::start()).collect();
    assert_load(PsetId::DEFAULT, 3.0);
    for (moved, spinner) in spinners.iter().enumerate() {
        pset::bind(set.0, Who::Lwp(spinner.lwp)).unwrap();
        assert_load(set.0, moved as f64 + 1.0);
        assert_load(PsetId::DEFAULT, 2.0 - moved as f64);
    }
    drop(spinners);
    let before = pset::load_averages(set.0).unwrap();
    pset::assign(PsetId::DEFAULT, userlib::cpu::CpuId::from_raw(1)).unwrap();
    let empty = pset::load_averages(set.0).unwrap();
    assert!(empty.iter().zip(before).all(|(after, before)| *after <= before && *after > 0.9 * before));
    assert_load(set.0, 0.0);
}

/// When a set is destroyed its LWPs are the default set's load.
#[test]
fn a_destroyed_sets_lwps_are_load_of_the_default_set() {
    let _alone = alone();
    if cpus() < 2 {
        return;
    }
    let set = Set::of(&[1]);
    let _spinners = [Spinner::start_in(set.0), Spinner::start_in(set.0)];
    assert_load(PsetId::DEFAULT, 0.0);
    drop(set);
    assert_load(PsetId::DEFAULT, 2.0);
}

/// The sets' averages add up to the machine's. They are read one after the other: while they are, they may change by what
/// all LWPs can do in that time.
#[test]
fn the_sets_add_up_to_the_machine() {
    let _alone = alone();
    let set = Set::of(if cpus() > 1 { &[1] } else { &[] });
    let _spinners: Vec<Spinner> = (0..3)
        .map(|number| if number < 2 && cpus() > 1 { Spinner::start_in(set.0) } else { Spinner::start() })
        .collect();
    for _ in 0..50 {
        let begin = Instant::now();
        let parts = [PsetId::DEFAULT, set.0].map(|set| pset::load_averages(set).unwrap());
        let machine = pset::machine_load_averages().unwrap();
        let drift = 4.0 * begin.elapsed().as_secs_f64() / 60.0;
        for (index, machine) in machine.into_iter().enumerate() {
            let sum = parts[0][index] + parts[1][index];
            assert!((sum - machine).abs() <= 2.0 / 16_384.0 + drift, "{sum} and {machine}");
        }
        thread::sleep(Duration::from_millis(3));
    }
}

/// Nothing runs, no timer ticks, and the averages fall as they must.
#[test]
fn k14_averages_decay_without_a_tick() {
    let _alone = alone();
    drop(Spinner::start());
    let (begin, first) = (Instant::now(), pset::load_averages(PsetId::DEFAULT).unwrap());
    thread::sleep(Duration::from_secs(2));
    let second = pset::load_averages(PsetId::DEFAULT).unwrap();
    let time = begin.elapsed().as_secs_f64();
    for ((first, second), length) in first.into_iter().zip(second).zip([60.0, 300.0, 900.0]) {
        let exact = first * f64::exp(-time / length);
        // The caller itself runs for a moment now and then.
        assert_within("average", second, exact - 2e-6..=exact + if on_icount() { 1e-5 } else { 0.01 });
    }
}
