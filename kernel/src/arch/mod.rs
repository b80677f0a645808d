//! The architecture. There is one; another would stand beside it and offer the same names.

mod x86_64;

pub(crate) use self::x86_64::*;
