//! K13 to K17, by a clock that is moved by hand.

use super::{BOUND, HZ, Watched, pace, shown};
use crate::loadavg::{Averages, Part};

const MINUTE: u64 = 60 * HZ;
const HOUR: u64 = 60 * MINUTE;

/// K13: a load of four, then none. Two hours are eight of the longest time constants, so the exact values then still
/// differ from the limits by up to 0.0014: they are met as they are. The limits are reached to the last place later.
#[test]
fn k13_constant_load_is_reached_exactly_and_so_is_nothing() {
    let mut set = Watched::new(HZ, 1);
    for (change, limit) in [(4, 4.0), (-4, 0.0)] {
        set.after(0, change);
        set.after(2 * HOUR, 0);
        set.check(BOUND);
        let printed = set.read().map(|average| format!("{average:.2}"));
        assert_eq!(printed, [format!("{limit:.2}"), format!("{limit:.2}"), format!("{limit:.2}")]);
        set.after(2 * HOUR, 0);
        assert_eq!(set.read(), [limit; 3]);
    }
}

/// K13: reading does not feed roundings back, however often it is done.
#[test]
fn k13_readings_leave_no_ghost() {
    let mut set = Watched::new(HZ, 1);
    set.after(0, 1);
    for _ in 0..50_000 {
        set.now += HOUR / 2500;
        set.read();
    }
    assert_eq!(set.read(), [1.0; 3]);
    set.model.change(set.now, 0);
    set.after(0, -1);
    for _ in 0..50_000 {
        set.now += HOUR / 2500;
        set.read();
    }
    assert_eq!(set.read(), [0.0; 3]);
    assert!(set.part.is_at_rest(set.now, &set.pace), "nothing at all is left");
}

/// K14: asleep over 1, 7 and 1000 points at which others sample, without a tick.
#[test]
fn k14_sleep_of_any_length_decays_in_closed_form() {
    for points in [1, 7, 1000] {
        let mut set = Watched::new(HZ, 1);
        set.after(1, 3);
        set.after(MINUTE, -3);
        set.after(points * 5_004_000_000, 0);
        set.check(BOUND);
        set.after(1, 1);
        set.after(HZ, -1);
        set.check(BOUND);
    }
}

/// K15: a fifth of each sampling period, in step with it, at five phases; and a job that runs between the samples only.
#[test]
fn k15_jobs_in_step_with_any_sampler_read_their_mean() {
    let period = 5_004_000_000;
    for phase in 0..5 {
        let mut set = Watched::new(HZ, 1);
        set.after(1 + phase * period / 5, 0);
        for _ in 0..600 {
            set.after(0, 1);
            set.after(period / 5, -1);
            set.after(period - period / 5, 0);
        }
        set.check(BOUND);
        let mean = set.read()[0];
        assert!((0.19..0.21).contains(&mean), "{mean}");
    }
}

/// K16: an LWP that always sleeps on one CPU and wakes on another, with counters that have drifted to the limit of 32 bits.
#[test]
fn k16_parts_drift_apart_and_their_sum_does_not() {
    let pace = pace(HZ, 1);
    let mut parts = [Part::new(), Part::new()];
    let sum = |parts: &mut [Part; 2], now| {
        let mut sum = Averages::default();
        parts.iter_mut().for_each(|part| sum += part.read(now, &pace).unwrap());
        shown(sum)
    };
    parts[0].drift_for_test(-(1 << 31));
    parts[1].drift_for_test(1 << 31);
    let mut now = 1;
    for _ in 0..1_000_000 {
        parts[1].more(now, &pace);
        parts[0].less(now + 500, &pace);
        now += 1000;
    }
    assert_eq!(parts[0].runnable() + parts[1].runnable(), 0);
    assert_eq!(parts[1].runnable(), (1 << 31) + 1_000_000);
    let exact = 0.5 * (1.0 - (-1.0f64 / 60.0).exp());
    assert!((sum(&mut parts, now)[0] - exact).abs() <= BOUND, "half of every microsecond of one second");
    assert_eq!(sum(&mut parts, now + 4 * HOUR), [0.0; 3]);
}

/// K17: as many sets as there may be, 200 LWPs, read once a second: each is as exact as if it were alone.
#[test]
fn k17_no_set_is_ever_late() {
    let mut sets: Vec<Watched> = (0..129).map(|_| Watched::new(HZ, 1)).collect();
    for second in 0..30 {
        for (number, set) in sets.iter_mut().enumerate() {
            let change = if second % 2 == 0 { 1 + i64::from(number < 71) } else { 0 };
            set.after(HZ, change);
            set.check(BOUND);
        }
    }
}
