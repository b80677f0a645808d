//! How readings are rounded and made doubles.

use super::super::Averages;
use proptest::prelude::*;

const ONE: i64 = 1 << 32;

fn show(value: i64) -> (f64, u64) {
    let averages = Averages([value; 3]);
    (f64::from_bits(averages.to_f64_bits()[1]), averages.fixed(16)[2])
}

#[test]
fn whole_numbers_halves_and_next_to_nothing() {
    assert_eq!(show(0), (0.0, 0));
    assert_eq!(show(-1), (0.0, 0), "an error in the last place is no negative load");
    assert_eq!(show(1 << 10), (0.0, 0));
    assert_eq!(show(1 << 11), (1.0 / 1_048_576.0, 0), "rounded to the nearest, and 16 places from 20");
    assert_eq!(show(ONE), (1.0, 1 << 16));
    assert_eq!(show(4 * ONE - (1 << 11)), (4.0, 4 << 16));
    assert_eq!(show(ONE / 2 * 3), (1.5, 3 << 15));
}

#[test]
fn sums_wrap_and_come_out_right() {
    let mut sum = Averages([i64::MAX - 5; 3]);
    sum += Averages([ONE; 3]);
    sum += Averages([-(i64::MAX - 5); 3]);
    assert_eq!(sum.to_f64_bits().map(f64::from_bits), [1.0; 3]);
}

proptest! {
    /// Floating point would say the same.
    #[test]
    fn doubles_are_those_of_the_machine(value in 0..i64::MAX - 4096) {
        let exact = ((value >> 12) + (value >> 11 & 1)) as f64 / 1_048_576.0;
        prop_assert_eq!(show(value).0.to_bits(), exact.to_bits());
        prop_assert!((show(value).1 as f64 / 65_536.0 - value as f64 / ONE as f64).abs() <= 0.54 / 65_536.0);
    }
}
