//! The system-call contract of tally.
//!
//! [`for_each_syscall!`] is the only place where a call's number, name and arguments are written. The kernel's
//! dispatcher, the stubs of the user library, the C header and the reference page are made from it: hand it a
//! macro and it calls that macro once with every row.
//!
//! Numbers below [`OWN_CALLS`] are Linux x86-64's, with Linux's meaning; numbers from there on are this project's.
#![no_std]
#![forbid(unsafe_code)]

mod debug;
mod errno;
mod table;
#[macro_use]
mod types;
pub mod linux;
pub mod name;
pub mod sema;

pub use debug::{FAIL_NEXT, Failing, HEAP_IN_USE};
pub use errno::Errno;
pub use types::*;

/// The first number of this project's own calls; everything below is Linux's.
pub const OWN_CALLS: usize = 0x1000;

/// The longest error code: results in −4095…−1 are errors.
pub const MAX_ERRNO: u16 = 4095;

macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $number:literal $name:ident($($arg:ident: $kind:ident),*);)*) => {
        /// The number of each call, under the call's name.
        pub mod number {
            $($(#[doc = $doc])* #[allow(non_upper_case_globals)] // the name is written once, in the table
            pub const $name: usize = $number;)*
        }

        /// One row of the table, for those who print it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Row {
            /// The call's number.
            pub number: usize,
            /// The call's name.
            pub name: &'static str,
            /// Name and kind of each argument, in order.
            pub arguments: &'static [(&'static str, &'static str)],
            /// What the call does, a sentence or two.
            pub summary: &'static str,
        }

        /// Every call, in the order of the table.
        pub const ROWS: &[Row] = &[$(Row {
            number: $number,
            name: stringify!($name),
            arguments: &[$((stringify!($arg), stringify!($kind))),*],
            summary: concat!($($doc),*),
        }),*];
    };
}
for_each_syscall!(numbers);

/// The row of `number`, if the table has it.
#[must_use]
pub fn row(number: usize) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique_and_sorted() {
        for pair in ROWS.windows(2) {
            assert!(pair[0].number < pair[1].number, "{} before {}", pair[0].name, pair[1].name);
        }
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| other.name != row.name), "{} twice", row.name);
            assert!(row.arguments.len() <= 6, "{} has more arguments than registers", row.name);
            assert!(!row.summary.is_empty(), "{} is not described", row.name);
        }
    }
}
