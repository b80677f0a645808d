//! How much an LWP lets others go first: the nice value of `setpriority`, and the priority that it makes.

use super::Priority;

/// A nice value, −20 … 19: the higher, the more the LWP lets others go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Nice(i8);

impl Nice {
    /// The nicest.
    pub const MOST: Nice = Nice(19);
    /// The least nice.
    pub const LEAST: Nice = Nice(-20);
    /// What the first program has.
    pub const DEFAULT: Nice = Nice(0);

    /// The nearest nice value.
    #[must_use]
    pub const fn nearest(value: i32) -> Nice {
        match value {
            ..=-20 => Nice::LEAST,
            19.. => Nice::MOST,
            between => Nice(between as i8),
        }
    }

    /// What the system call `getpriority` returns, 1 … 40: a nice value can be negative, which would be an error.
    #[must_use]
    pub const fn told(self) -> u64 {
        (20 - self.0) as u64
    }

    /// The priority of an LWP that is so nice; one with credit is one above.
    #[must_use]
    pub const fn priority(self) -> Priority {
        Priority::new((20 - self.0) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nicer_is_lower_and_all_have_room() {
        assert_eq!(Nice::nearest(i32::MIN), Nice::LEAST);
        assert_eq!(Nice::nearest(i32::MAX), Nice::MOST);
        for value in -20..19 {
            let [nice, nicer] = [value, value + 1].map(Nice::nearest);
            assert!(nice < nicer && nice.priority() > nicer.priority() && nice.told() > nicer.told());
        }
        assert_eq!((Nice::DEFAULT.told(), Nice::LEAST.told(), Nice::MOST.told()), (20, 40, 1));
        assert!(Nice::LEAST.priority() < Priority::TURN, "room for credit, and for whose turn it is");
    }
}
