//! Load averages: the exponentially damped mean of how many LWPs run or wait, exact at every moment, never sampled.
//!
//! # Problem
//! `n(t)` LWPs of a set are running or runnable. For T = 60, 300 and 900 s its average is the solution of
//! `dL/dt = (n(t) - L) / T` with `L = 0` when the set is made. It is wanted at any moment, whatever the jobs' periods, and
//! with no timer to keep it going; `n` changes hundreds of thousands of times a second, on any of the set's CPUs, each
//! under its own lock.
//!
//! # Closed form
//! Call `g = n - L` the *gap*, and `r = 1/T`. Between changes `dg/dt = -r g`; a change of `n` by `d` is one of `g`, for `L`
//! does not jump. So an undisturbed span is closed exactly however long it was, and after changes `d(i)` at offsets `x(i)`
//! from a moment at which the average was `L0`
//!
//! ```text
//! g(x) = exp(-r x) (n0 - L0 + sum d(i) exp(r x(i)))
//!      = exp(-r x) (n  - L0 + r sum d(i) x(i) + r^2/2 sum d(i) x(i)^2 + ...)        with n = n0 + sum d(i)
//! ```
//!
//! The sums over a short *period* are whole numbers of ticks: a change adds to `n` and to the *first* and *second
//! moment*, which is all that the hot path does. The first change or reading after the period *folds* them into the
//! averages: `L = n - g(x)`.
//!
//! # Bounds
//! A period lasts at most 1/2048 s of this clock, so `r x <= 8.2e-6`. Terms are written for `d = ` up to 2^17, more LWPs than
//! there are ids.
//! - *Moments left out.* A sum over changes of a rising function `f` is at most `2 max|n - n0| f(x)` (summation by parts): a
//!   fold errs by `d (r x)^3 / 3`. An error decays like a gap, so what a thousand folds leave is one fold's over `r x`:
//!   `d (r x)^2 / 3 = 3e-6`.
//! - *Readings* fold first where the period has changes; in one that has none they add `r x g`, whose slope the fold has made
//!   ready (`steady.rs`), and leave out the square: `d (r x)^2 / 2 = 4e-6`. The slopes' places cost 2^-26 on a
//!   CPU, 1e-6 on 64; before they are shown they are rounded to 2^-20: 5e-7.
//! - *Fixed point* has 64 binary places. A fold rounds by 2^-63, the factor of a long span errs by less than 2^-45 (`decay.rs`).
//!
//! Together below 2^-16 = 1.5e-5, however long the history; with a thousand LWPs, a hundred times less. Gaps are rounded
//! towards zero and readings to 2^-20, so that a constant load reads `n` in the end, and an idle machine 0, exactly.
//!
//! # Several CPUs
//! The equation is linear: a set's average is the sum of those of its parts, in whatever way its changes are shared out
//! among them. So every CPU has a [`Part`], guarded by its dispatcher's lock, which is held at a wake-up or block anyway. An
//! LWP that sleeps here and wakes there leaves -1 in one part and +1 in another, for ever if need be: a part alone means
//! nothing and may be negative, sums wrap and come out right (K16). An LWP that moves within the set costs nothing. Each set has
//! one more part, with a lock of its own, for what does not happen on one of its CPUs: the wait of an LWP that is bound to
//! it and was last elsewhere. A CPU that leaves a set gives what it holds to that part ([`Part::absorb`]): load is LWPs',
//! not CPUs'. One LWP that is bound elsewhere is `less` in one set and `more` in the other, with one stamp.
//!
//! # Reading at one moment
//! A reader takes `now` and visits the parts, each under its lock, one after the other. What happened before `now`, it sees:
//! a change is stamped and booked under one hold of the lock, and the visit comes after `now`. What happened after `now` it
//! must take back. Each part keeps the stamps of its last 32 changes (`log.rs`), and a reading that is overtaken runs the closed
//! form backwards and subtracts them: exact again, and no CPU was stopped or told. A reader that as
//! many have overtaken on one CPU begins anew ([`Overtaken`]), which is rare: 64 visits take less time than 32 changes. No CPU may leave or join
//! the set while it is read.
//!
//! Most readings come in a quiet moment: no lock is held and every part's period had no changes so far. Such a reading takes
//! its moment, then every lock that is free, and gives up at the first that is not, or whose part has changed
//! ([`Part::read_steady`]); then the other way begins anew.
//!
//! The machine's average is the sum over all parts at one moment, so the sets' add up to it by construction.
//!
//! # Tried and refused
//! *An accumulator per set*: one more lock, or three atomic additions on a line that all CPUs write. *Double reading until
//! nothing has changed between*: with many busy CPUs it never ends. *All dispatchers' locks at once*: stops the machine for a
//! look. *The average itself at each change*: three multiplications and shifts of 128 bits, ten times the cost. *Longer
//! periods with a third moment*: more in the hot path to save a thousandth of it.

mod averages;
mod decay;
mod log;
mod pace;
mod part;
mod steady;
#[cfg(test)]
mod tests;

pub use averages::Averages;
pub use pace::Pace;
pub use part::{Overtaken, Part};

/// How many averages there are, and the time constants of this clock in seconds.
pub const TIMES: [u64; 3] = [60, 300, 900];
