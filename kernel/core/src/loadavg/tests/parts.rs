//! Several parts of a set, read at one moment while they change.

use super::super::{Overtaken, steady::Steady};
use super::{Averages, BOUND, HZ, Model, Pace, Part, TIMES, assert_near, pace, shown};
use proptest::prelude::*;

/// Reads the parts as they are in the order given, all at `now`.
fn read(parts: &mut [Part], now: u64, pace: &Pace) -> Result<Averages, Overtaken> {
    let mut sum = Averages::default();
    for part in parts {
        sum += part.read(now, pace)?;
    }
    Ok(sum)
}

#[test]
fn a_cpu_that_leaves_takes_no_load_along() {
    let pace = pace(HZ, 1);
    let (mut set, mut cpu) = (Part::new(), Part::new());
    cpu.more(1, &pace);
    let before = cpu.read(90 * HZ, &pace).unwrap();
    set.absorb(&mut cpu, 90 * HZ, &pace);
    assert_eq!(set.read(90 * HZ, &pace), Ok(before));
    assert!(cpu.is_at_rest(90 * HZ, &pace) && !set.is_at_rest(90 * HZ, &pace));
    assert_eq!((set.runnable(), cpu.runnable()), (1, 0));
}

/// More changes after `now` than are kept: no answer is better than a wrong one.
#[test]
fn a_reader_that_was_overtaken_too_often_is_told() {
    let pace = pace(HZ, 1);
    let mut part = Part::new();
    for stamp in 1..=31 {
        part.more(stamp * 1000, &pace);
    }
    assert_eq!(part.read(999, &pace), Ok(Averages::default()), "31 changes are taken back");
    part.less(32_000, &pace);
    assert_eq!(part.read(999, &pace), Err(Overtaken));
    assert!(part.read(1000, &pace).is_ok());
}

proptest! {
    /// A reader takes `now`, and before it comes to a part the part goes on, over ends of periods too: what it reads is
    /// nevertheless the average at `now`, and reading has changed nothing.
    #[test]
    fn readers_that_are_overtaken_read_the_moment_they_began(
        changes in prop::collection::vec((0..4usize, 0..200_000u64, any::<bool>()), 1..120),
        later in prop::collection::vec((0..4usize, 0..200_000u64, any::<bool>()), 0..=31),
        scale in prop::sample::select(vec![1, 100, 10_000]),
    ) {
        let pace = pace(HZ, scale);
        let mut parts: Vec<Part> = (0..4).map(|_| Part::new()).collect();
        let mut model = Model::new(HZ, scale);
        let mut clock = 1;
        let apply = |parts: &mut [Part], (part, pause, is_more): (usize, u64, bool), clock: &mut u64| {
            *clock += pause;
            match is_more {
                true => parts[part].more(*clock, &pace),
                false => parts[part].less(*clock, &pace),
            }
            if is_more { 1 } else { -1 }
        };
        model.change(1, 64);
        (0..64).for_each(|_| parts[0].more(1, &pace));
        for step in changes {
            let change = apply(&mut parts, step, &mut clock);
            model.change(clock, change);
        }
        let now = clock;
        let mut sum = Averages::default();
        let mut later = later.into_iter();
        for visited in 0..4 {
            for step in later.by_ref().take(8) {
                clock += 1;
                apply(&mut parts, step, &mut clock);
            }
            sum += parts[visited].read(now, &pace).unwrap();
        }
        assert_near(shown(sum), model.read(now).map(|exact| exact.max(0.0)), BOUND);
        let end = clock + HZ;
        let twice = [read(&mut parts, end, &pace), read(&mut parts, end, &pace)];
        prop_assert_eq!(twice[0], twice[1]);
    }
}

/// LWPs may drift from part to part millions of times a second, and a part's gap is what drifts in its time constant.
#[test]
fn a_part_whose_gap_is_large_closes_it_at_its_rate() {
    let (pace, gap) = (pace(HZ, 1), 1_i64 << 30);
    let steady = Steady::begin(0, gap, [0; 3], &pace);
    let ticks = pace.period() - 1;
    for (closed, time) in steady.after(ticks).0.into_iter().zip(TIMES) {
        let expected = gap as f64 * ticks as f64 / (time * HZ) as f64;
        let closed = closed as f64 / f64::from(1 << 16) / f64::from(1 << 16);
        assert!((closed / expected - 1.0).abs() < 1e-6, "{closed} of {expected} within {time} s");
    }
}
