//! What kernels with debug assertions do against themselves, so that tests find what hardly ever happens.
//!
//! **Problem.** Races show where two CPUs meet at one of a few places: after a lock was let go of, after the program's
//! memory was looked at, before a switch. Left alone, CPUs pass there within nanoseconds. And a way back out of a failure
//! is walked only where something fails. **Answer.** [`perturb`] draws, from a seed, where a CPU lingers or is interrupted, who
//! has to give way, and where an LWP wakes up. [`fail`] lets the n-th allocation or copy of one call fail, when a test asks for it.
//!
//! **Invariants.** Neither does what could not happen anyway: every delay could be an interrupt of the host's, every
//! preemption the end of a slice, every failure a machine with less memory or another LWP that unmaps. So nothing that is
//! promised is suspended, and whatever goes wrong is a fault of the kernel's. All that is random comes from the seed
//! and the clock: under `--icount` the same seed gives the same run.
//!
//! **Cost.** Each place asks `cfg!(debug_assertions)` first: in release kernels there is nothing. **Tried and refused:**
//! failing the n-th allocation since boot, by a kernel option: a test that goes through all n would boot as often, and
//! its own start would count.

pub(crate) mod fail;
pub(crate) mod perturb;
pub(crate) mod stretch;

use crate::mm::heap;
use syscalls::{Errno, FAIL_NEXT, HEAP_IN_USE};

/// Serves a call that is not in the table: one of those that checked kernels have besides.
///
/// # Errors
/// ENOSYS: there is no such call. EINVAL: see [`fail::next`].
pub(crate) fn call(number: u64, arguments: [u64; 6]) -> Result<u64, Errno> {
    match number {
        FAIL_NEXT if cfg!(debug_assertions) => fail::next(arguments[0], arguments[1]),
        HEAP_IN_USE if cfg!(debug_assertions) => Ok(heap::used_bytes() as u64),
        _ => Err(Errno::ENOSYS),
    }
}
