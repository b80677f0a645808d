//! What the guest tests share: calls by number, pages, memory to be watched, work of known length.
//!
//! A guest test is an ordinary `#[test]`, built for the musl target and run inside the kernel. Those of calls with
//! Linux's numbers also pass on Linux, which is their reference, where no comment says otherwise.

mod bad;
mod child;
mod enter;
mod failing;
mod leftovers;
mod lwps;
mod pages;
mod random;
mod sets;
mod spinner;
mod start;
mod vectors;
mod work;

pub use bad::{BadPointer, Room, bad_pointers};
pub use child::{Child, Ended, end, sleep_for_ever};
pub use enter::{Registers, call, invoke};
pub use failing::{Attempt, can_fail, each_failure_leaves_nothing, failing};
pub use leftovers::{Used, leaves_nothing, settled, used};
pub use lwps::add_lwp;
pub use pages::{PAGE, Pages, shared_word};
pub use random::Random;
pub use sets::{Set, allow, cpus, cpus_of, here, user_time_on};
pub use spinner::Spinner;
pub use start::{FirstRegisters, first_registers};
pub use vectors::{Meanwhile, VectorState};
pub use work::{at_full_length, call_loop, on_icount, touch_loop, user_loop};

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The address of a place, as a system call takes it.
pub fn address<T: ?Sized>(place: *const T) -> u64 {
    place.cast::<u8>().expose_provenance() as u64
}

/// Asserts that `value` lies in `range`, and says where it lies if not.
#[track_caller]
pub fn assert_within<T: PartialOrd + std::fmt::Debug>(what: &str, value: T, range: RangeInclusive<T>) {
    assert!(range.contains(&value), "{what}: {value:?} is not in {range:?}");
}

/// What sums of floored parts may fall short of the floored whole: less than one nanosecond a part.
#[track_caller]
pub fn assert_parts_make_the_whole(what: &str, sum: Duration, parts: u64, whole: Duration) {
    assert_within(what, sum, whole.saturating_sub(Duration::from_nanos(parts))..=whole);
}

/// Tests of one file that measure the machine, or that fork and so copy whatever others are in the middle of, run one
/// after the other: each holds this.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
