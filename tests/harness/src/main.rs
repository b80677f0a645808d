//! Host side of the tests.
fn main() {}
