//! The ledger against a model that adds up every interval, against itself under loom, and between real threads.

#[cfg(not(feature = "loom"))]
mod history;
#[cfg(feature = "loom")]
mod loom;
#[cfg(not(feature = "loom"))]
mod threads;
#[cfg(not(feature = "loom"))]
mod units;
