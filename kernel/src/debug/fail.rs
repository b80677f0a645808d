//! Failures on demand: the n-th allocation, or the n-th copy from or to the program, of one LWP's calls.
//!
//! A test asks by a call of its own ([`syscalls::FAIL_NEXT`]), makes the call that it is after, and asks again, which
//! tells whether the failure came. It goes through n = 1, 2, … until none does. **One LWP of the machine** at a time.
//! Only what its calls ask for counts: a page fault in user mode, which no error could be reported to, does not; nor does
//! what another program does that it goes on with.

use crate::cpu::Here;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use syscalls::{Errno, Failing};

/// The tid of the LWP that is meant; 0: none.
static TID: AtomicU32 = AtomicU32::new(0);

/// How many are still to come, the failing one included; by [`Failing`]. 0: none fails.
static LEFT: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Lets the `number`-th of this LWP's `what` fail from now on, and nothing else; 0: none. Returns how many were left to
/// come before: 0 where the failure has come.
///
/// # Errors
/// EINVAL: there is no such `what`.
pub(super) fn next(what: u64, number: u64) -> Result<u64, Errno> {
    let what = LEFT.get(what as usize).ok_or(Errno::EINVAL)?;
    TID.store(0, Relaxed);
    let left = LEFT.each_ref().map(|left| left.swap(0, Relaxed));
    what.store(number, Relaxed);
    TID.store(Here::get().lwp().tid(), Relaxed);
    Ok(left[0] + left[1])
}

/// Nothing fails any more, if this LWP's was meant: it goes on with another program.
#[inline(always)]
pub(crate) fn forget() {
    if cfg!(debug_assertions) && is_meant() {
        TID.store(0, Relaxed);
    }
}

/// Whether this one is to fail.
#[inline(always)]
pub(crate) fn now(what: Failing) -> bool {
    cfg!(debug_assertions) && TID.load(Relaxed) != 0 && is_due(&LEFT[what as usize])
}

/// Does `work`, which no failure is meant for.
#[inline(always)]
pub(crate) fn never<T>(work: impl FnOnce() -> T) -> T {
    if !cfg!(debug_assertions) || !is_meant() {
        return work();
    }
    let tid = TID.swap(0, Relaxed);
    let result = work();
    TID.store(tid, Relaxed);
    result
}

#[cold]
fn is_due(left: &AtomicU64) -> bool {
    is_meant() && left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) == Ok(1)
}

/// Whether this is the LWP in question.
fn is_meant() -> bool {
    let tid = TID.load(Relaxed);
    tid != 0 && Here::get().current.get().is_some_and(|lwp| lwp.tid() == tid)
}
