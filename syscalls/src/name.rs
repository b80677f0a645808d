//! Names in structures: as many bytes as there is room for, then zeroes.

/// A name as a structure holds it. What is too long is cut.
#[must_use]
pub fn fixed<const SIZE: usize>(name: &[u8]) -> [u8; SIZE] {
    let mut held = [0; SIZE];
    let kept = name.len().min(SIZE);
    held[..kept].copy_from_slice(&name[..kept]);
    held
}

/// The bytes of a name that a structure holds.
#[must_use]
pub fn bytes(held: &[u8]) -> &[u8] {
    held.split(|&byte| byte == 0).next().unwrap_or(held)
}

#[cfg(test)]
mod tests {
    use super::{bytes, fixed};

    #[test]
    fn a_name_comes_back_as_far_as_there_is_room() {
        for (name, told) in [("", ""), ("abc", "abc"), ("abcd", "abcd"), ("abcde", "abcd")] {
            assert_eq!(bytes(&fixed::<4>(name.as_bytes())), told.as_bytes(), "{name}");
        }
        assert_eq!(fixed::<4>(b"ab"), *b"ab\0\0");
    }
}
