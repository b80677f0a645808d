//! Powers of e in fixed point, as what they differ from one by: small numbers keep their places.
//!
//! Arguments and results have 64 binary places. A long span is halved until three terms of the series are enough, and
//! the result is squared back. Halving `k` times and squaring back costs `2^k` units of the last place, and so does, at
//! 2^-60, the first term left out: less than `z 2^-45` for a long span `z`. Old errors fade by `z` at the same time, so
//! 2^-45 is also what remains for ever.

/// Below this many bits, that is 2^-14, three terms are enough: the next is less than 2^-60.
const SERIES_BITS: u32 = 64 - 14;

/// From here on nothing is left: `exp(-45) < 2^-64`.
const END: u128 = 45 << 64;

/// `1 - exp(-z)`, for any span; at most `1 - 2^-64`.
pub(super) fn loss(z: u128) -> u64 {
    if z >= END {
        return u64::MAX;
    }
    let halvings = halvings(z);
    let small = (z >> halvings) as u64;
    let mut loss = small - high(small, small - high(small, small / 3)) / 2;
    for _ in 0..halvings {
        loss += high(loss, !loss); // 1 - (1 - u)^2 = u + u (1 - u)
    }
    loss
}

/// `exp(z) - 1`, for `z` of 1 at most: below 2.
pub(super) fn gain(z: u128) -> u128 {
    let halvings = halvings(z);
    let small = (z >> halvings) as u64;
    let mut gain = u128::from(small + high(small, small + high(small, small / 3)) / 2);
    for _ in 0..halvings {
        let part = gain as u64; // all of it, but after the last doubling
        gain = 2 * gain + u128::from(high(part, part)); // (1 + u)^2 - 1
    }
    gain
}

/// How often `z` is to be halved for the series.
fn halvings(z: u128) -> u32 {
    (u128::BITS - z.leading_zeros()).saturating_sub(SERIES_BITS)
}

/// `value` times a fraction, rounded away from zero: what is left when a part is taken away does not linger.
pub(super) fn part_of(value: i128, fraction: u64) -> i128 {
    let size = value.unsigned_abs();
    if size == 0 {
        return 0;
    }
    let whole = (size >> 64) * u128::from(fraction);
    value.signum() * (whole + u128::from(high(size as u64, fraction)) + 1) as i128
}

/// The upper half of a product: the product of two fractions.
const fn high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}
