//! The host side of tally: runs the kernel in QEMU, tests it and measures it.
//!
//! People call `./qemu-run.sh`, `make test` and `make bench`; what those need beyond shell is here. Everything that
//! is run in the kernel goes through `qemu-run.sh`, which alone knows QEMU's flags and calls [`run`] back.

pub mod bench;
pub mod fixture;
pub mod machine;
pub mod new_test;
pub mod project;
pub mod run;
pub mod test;
