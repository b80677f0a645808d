//! The bits of a word, where each stands for something that has a number.

/// The numbers of the bits that are set, the lowest first.
pub fn ones(word: u64) -> impl Iterator<Item = u32> + Clone {
    let mut left = word;
    core::iter::from_fn(move || {
        let lowest = (left != 0).then_some(left.trailing_zeros());
        left &= left.wrapping_sub(1);
        lowest
    })
}

#[cfg(test)]
mod tests {
    use super::ones;

    #[test]
    fn every_bit_once_and_in_order() {
        assert_eq!(ones(0).next(), None);
        assert!(ones(1 | 1 << 31 | 1 << 32 | 1 << 63).eq([0, 31, 32, 63]));
        assert!(ones(u64::MAX).eq(0..64));
    }
}
