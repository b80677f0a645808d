//! Powers of e against the big model.

use super::super::decay::{gain, loss, part_of};
use super::model::ratio;
use proptest::prelude::*;

const ONE: f64 = 18_446_744_073_709_551_616.0;

/// The error of `loss(z)`, in units of one.
fn loss_error(z: u128) -> f64 {
    let z_big = ratio((z >> 64) as u64, 1) + ratio(z as u64, 1) / ratio(1 << 32, 1) / ratio(1 << 32, 1);
    let exact = ratio(1, 1) - (-z_big).exp();
    (exact - ratio(loss(z), 1) / ratio(1 << 32, 1) / ratio(1 << 32, 1)).to_f64().value()
}

#[test]
fn nothing_is_lost_in_no_time_and_all_but_the_last_place_in_the_end() {
    assert_eq!(loss(0), 0);
    assert_eq!(loss(1), 1);
    assert_eq!(loss(u128::MAX), u64::MAX);
    assert_eq!(gain(0), 0);
    assert!((gain(1 << 64) as f64 / ONE - 1.0f64.exp_m1()).abs() < 1e-14);
}

#[test]
fn parts_are_rounded_away_from_zero() {
    assert_eq!([part_of(0, u64::MAX), part_of(1, 1), part_of(-1, 1)], [0, 1, -1]);
    assert_eq!(part_of(-5 << 64, 1 << 63), -(5 << 63) - 1);
}

proptest! {
    /// The bound that the theory states: 2^-45 for each unit of the span.
    #[test]
    fn losses_are_exact_to_their_bound(exponent in 0u32..70, mantissa: u64) {
        let z = (u128::from(mantissa | 1 << 63) << 6) >> (69 - exponent.min(69));
        let allowed = (z as f64 / ONE) * 2f64.powi(-45) + 1.0 / ONE;
        prop_assert!(loss_error(z).abs() <= allowed, "z = {}, error {:e}", z as f64 / ONE, loss_error(z));
    }

    /// What has grown and shrunk again is what it was.
    #[test]
    fn gains_undo_losses(z in 0u64..) {
        let (gain, loss) = (gain(z.into()) as f64 / ONE, loss(z.into()) as f64 / ONE);
        prop_assert!(((1.0 + gain) * (1.0 - loss) - 1.0).abs() < 1e-12);
    }
}
