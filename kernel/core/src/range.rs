//! Which addresses are a user's.
//!
//! User space ends one page below 2^47, the end of the lower canonical half. A SYSCALL in the last two bytes of a
//! page there would leave a return address of 2^47, at which SYSRET faults in the kernel, on the user's stack
//! (CVE-2012-0217; case K34). With the last page never mapped, the highest return address is [`USER_END`].

use syscalls::Errno;

/// The end of user space.
pub const USER_END: u64 = 0x7fff_ffff_f000;

/// Some bytes at a user's addresses: below [`USER_END`] as a whole. Whether they are mapped is another question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRange {
    start: u64,
    length: u64,
}

impl UserRange {
    /// `length` bytes from `start`, as a system call's arguments name them. EFAULT where one is not a user's; an
    /// empty range is held to the same limit.
    #[inline]
    pub const fn new(start: u64, length: u64) -> Result<UserRange, Errno> {
        // `USER_END - length` cannot wrap below zero once `length` is no longer than user space.
        if length <= USER_END && start <= USER_END - length {
            Ok(UserRange { start, length })
        } else {
            Err(Errno::EFAULT)
        }
    }

    /// `count` elements of `size` bytes from `start`; EFAULT also where their length is beyond any range.
    #[inline]
    pub const fn of_array(start: u64, count: u64, size: u64) -> Result<UserRange, Errno> {
        match count.checked_mul(size) {
            Some(length) => UserRange::new(start, length),
            None => Err(Errno::EFAULT),
        }
    }

    /// The first address.
    #[must_use]
    pub const fn start(self) -> u64 {
        self.start
    }

    /// The address after the last.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.start + self.length
    }

    /// How many bytes.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.length
    }

    /// Whether there are no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bits 47 to 63 are all alike.
    fn is_canonical(address: u64) -> bool {
        ((address << 16) as i64 >> 16) as u64 == address
    }

    #[test]
    fn ranges_end_at_the_end_of_user_space() {
        for (start, length) in
            [(0, 0), (0, USER_END), (USER_END - 1, 1), (USER_END, 0), (4096, USER_END - 4096)]
        {
            let range = UserRange::new(start, length).unwrap();
            assert_eq!((range.start(), range.len(), range.end()), (start, length, start + length));
            assert_eq!(range.is_empty(), length == 0);
        }
        let beyond = [(0, USER_END + 1), (USER_END, 1), (USER_END - 1, 2), (USER_END + 1, 0), (1, USER_END)];
        let wrapping = [(1, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX), (u64::MAX - 7, 8)];
        let kernel = [(0xffff_8000_0000_0000, 8), (0xffff_ffff_8020_0000, 0), (1 << 47, 1)];
        for (start, length) in beyond.into_iter().chain(wrapping).chain(kernel) {
            assert_eq!(UserRange::new(start, length), Err(Errno::EFAULT), "{start:#x} + {length:#x}");
        }
    }

    #[test]
    fn arrays_that_are_longer_than_memory_are_refused() {
        assert_eq!(UserRange::of_array(4096, 3, 16), UserRange::new(4096, 48));
        assert_eq!(UserRange::of_array(4096, 1 << 60, 16), Err(Errno::EFAULT));
        assert_eq!(UserRange::of_array(4096, u64::MAX, 2), Err(Errno::EFAULT));
    }

    /// K34: no SYSCALL instruction that a user can place returns to an address that is not canonical.
    #[test]
    fn k34_what_follows_a_syscall_instruction_is_canonical() {
        const SYSCALL: u64 = 2;
        let last = UserRange::new(USER_END - SYSCALL, SYSCALL).unwrap();
        assert!(is_canonical(last.end()));
        assert_eq!(UserRange::new((1 << 47) - SYSCALL, SYSCALL), Err(Errno::EFAULT));
    }

    proptest! {
        #[test]
        fn a_range_holds_user_addresses_only(start: u64, length: u64, shift in 0..64u32, other in 0..64u32) {
            let (start, length) = (start >> shift, length >> other);
            let inside = start as u128 + length as u128 <= USER_END as u128;
            prop_assert_eq!(UserRange::new(start, length).is_ok(), inside);
        }

        /// Nor is there a range of a user's that ends elsewhere: no instruction of the user's is followed by an address that
        /// is not canonical.
        #[test]
        fn a_range_ends_at_a_canonical_address(start: u64, length: u64, shift in 0..64u32, other in 0..64u32) {
            if let Ok(range) = UserRange::new(start >> shift, length >> other) {
                prop_assert!(is_canonical(range.end()));
            }
        }
    }
}
