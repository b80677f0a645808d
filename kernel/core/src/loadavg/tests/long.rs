//! Long and hostile histories.

use super::model::{decay, ratio};
use super::{BOUND, HZ, Model, Part, TIMES, Watched, assert_near, pace, shown};
use proptest::prelude::*;

/// A day in ticks of a nanosecond.
const DAY: u64 = 86_400 * HZ;

/// How many changes each long history has: as many as the specification names where `make test-long` asks for more
/// cases.
fn transitions() -> u64 {
    if std::env::var_os("PROPTEST_CASES").is_some() { 1_000_000_000 } else { 1_000_000 }
}

/// A load of `lwps` for `on` ticks of every `period`, so often: by the sum of a geometric series.
fn periodic(index: usize, lwps: u64, on: u64, period: u64, times: u64) -> f64 {
    let one = ratio(1, 1);
    let of_one = decay(index, period - on, HZ, 1) * (&one - decay(index, on, HZ, 1));
    let repeated = (&one - decay(index, period * times, HZ, 1)) / (&one - decay(index, period, HZ, 1));
    (of_one * repeated * ratio(lwps, 1)).to_f64().value()
}

/// Jobs in step with everything: with the period itself, around it, far below and far above it.
#[test]
fn changes_without_end_do_not_add_up_to_an_error() {
    let note_period = HZ / 2048;
    for (lwps, on, period) in [
        (1, 400, 1_000),
        (3, note_period / 2, note_period),
        (2, 1, note_period + 1),
        (64, note_period - 1, 2 * note_period),
        (2, 999_999, 5_004_000),
    ] {
        let (pace, mut part, mut now) = (pace(HZ, 1), Part::new(), 1);
        let times = transitions() / (2 * lwps);
        for _ in 0..times {
            (0..lwps).for_each(|_| part.more(now, &pace));
            (0..lwps).for_each(|_| part.less(now + on, &pace));
            now += period;
        }
        let exact = [0, 1, 2].map(|index| periodic(index, lwps, on, period, times));
        assert_near(shown(part.read(now, &pace).unwrap()), exact, BOUND);
    }
}

/// As many LWPs as there are ids, at once and for as long as the worst case of the theory wants it, in periods as long as
/// any clock's.
#[test]
fn a_hundred_thousand_lwps_at_once() {
    for period in [HZ / 2048, 1 << 22] {
        let (pace, mut part, mut now) = (pace(HZ, 1), Part::new(), 1);
        let lwps = 1u64 << 17;
        for _ in 0..20 {
            (0..lwps).for_each(|_| part.more(now, &pace));
            (0..lwps).for_each(|_| part.less(now + period - 1, &pace));
            now += period + 3;
        }
        let exact = [0, 1, 2].map(|index| periodic(index, lwps, period - 1, period + 3, 20));
        assert_near(shown(part.read(now, &pace).unwrap()), exact, BOUND);
    }
}

/// What folds leave out adds up to what the theory says: for each LWP a third of the square of what a period is to a
/// time constant. Seen in the places that are not shown.
#[test]
fn what_folds_leave_out_stays_below_its_bound() {
    let (pace, mut part, mut now) = (pace(HZ, 1), Part::new(), 1);
    let (lwps, period, times) = (256, HZ / 2048 + 1, 30_000); // each fold is at a rise
    for _ in 0..times {
        (0..lwps).for_each(|_| part.more(now, &pace));
        (0..lwps).for_each(|_| part.less(now + period / 2, &pace));
        now += period;
    }
    let read = part.read(now, &pace).unwrap().0.map(|average| average as f64 / (1u64 << 32) as f64);
    let exact = [0, 1, 2].map(|index| periodic(index, lwps, period / 2, period, times));
    let of_a_period = 1.0 / (2048.0 * 60.0);
    assert_near(read, exact, lwps as f64 * of_a_period * of_a_period / 3.0 + 1e-9);
}

/// Where the gap is widest: a reading at the end of a period without changes, after a step of a hundred thousand.
#[test]
fn readings_late_in_a_period_are_near_enough() {
    let (pace, mut part) = (pace(HZ, 1), Part::new());
    (0..1 << 17).for_each(|_| part.more(1, &pace));
    part.read(1, &pace).unwrap();
    let last = HZ / 2048 - 1;
    let exact = [0, 1, 2]
        .map(|index| (ratio(1 << 17, 1) * (ratio(1, 1) - decay(index, last, HZ, 1))).to_f64().value());
    assert_near(shown(part.read(1 + last, &pace).unwrap()), exact, BOUND);
}

/// A year with a change every few hours, read after pauses of every length.
#[test]
fn a_year() {
    let mut set = Watched::new(HZ, 1);
    let mut load = 0i64;
    for step in 0..2_000u64 {
        let change = if load > 30 { -load } else { ((step * 7 % 5) as i64 - 1).max(-load) };
        set.after(step * 7_919 % 4_000 * DAY / 11_000, change);
        load += change;
        set.after(1 << (step % 40), 0);
        set.check(BOUND);
    }
    assert!(set.now > 364 * DAY, "{}", set.now / DAY);
    set.after(365 * DAY, -load);
    set.after(365 * DAY, 0);
    assert_eq!(set.read(), [0.0; 3]);
}

/// The step response, from the first tick to many time constants.
#[test]
fn a_step_is_answered_exactly() {
    for (index, time) in TIMES.into_iter().enumerate() {
        let mut set = Watched::new(HZ, 1);
        set.after(0, 5);
        set.after(time * HZ, 0);
        let exact = 5.0 * (1.0 - (-1.0f64).exp());
        assert!((set.read()[index] - exact).abs() < 1e-6);
    }
}

#[test]
fn scales_speed_the_clock_up_and_others_are_refused() {
    let rate = crate::clock::Rate::new(HZ).unwrap();
    assert_eq!([0, 10_001, u32::MAX].map(|scale| super::Pace::new(rate, scale)), [None; 3]);
    for scale in [1, 7, 10_000] {
        let mut set = Watched::new(HZ, scale);
        set.after(0, 3);
        set.after(60 * HZ / u64::from(scale), 0);
        set.check(BOUND);
        assert!((set.read()[0] - 3.0 * (1.0 - (-1.0f64).exp())).abs() < 1e-5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Any counter, any scale, pauses of all sizes: the bound holds after every step.
    #[test]
    fn random_histories(
        hz in prop::sample::select(vec![1_000_000, 999_999_937, HZ, 6_000_000_000]),
        scale in prop::sample::select(vec![1, 3, 10_000]),
        steps in prop::collection::vec((0u32..44, any::<u64>(), -20i64..=20), 1..60),
    ) {
        let mut set = Watched::new(hz, scale);
        let mut load = 0;
        for (bits, pause, change) in steps {
            let change = change.max(-load);
            load += change;
            set.after(pause & ((1 << bits) - 1), change);
            set.check(BOUND);
        }
    }

    /// Bursts of changes a few ticks apart, as of LWPs that wake each other.
    #[test]
    fn random_bursts(steps in prop::collection::vec((0u64..700_000, any::<bool>()), 1..400)) {
        let (pace, mut part, mut model, mut now) = (pace(HZ, 1), Part::new(), Model::new(HZ, 1), 1);
        let mut load = 0;
        for (pause, is_more) in steps {
            now += pause;
            let change = if is_more || load == 0 { 1 } else { -1 };
            load += change;
            if change > 0 { part.more(now, &pace) } else { part.less(now, &pace) }
            model.change(now, change);
        }
        now += 1000;
        assert_near(shown(part.read(now, &pace).unwrap()), model.read(now), BOUND / 20.0);
    }
}
