//! Pointers that calls take: what they point at, checked.

use super::{Address, Result};
use crate::mm::user::copy_in;
use syscalls::{Errno, TimeSpec};

/// Does `copy` unless the pointer is null, which means "not wanted".
pub(super) fn optional(address: Address, copy: impl FnOnce(Address) -> Result<()>) -> Result<()> {
    if address == 0 { Ok(()) } else { copy(address) }
}

/// The time that a `timespec` says, in nanoseconds, at most what 64 bits hold. EFAULT; EINVAL where it is negative or
/// its nanoseconds are not below a second.
pub(super) fn copy_in_time(address: Address) -> Result {
    let time: TimeSpec = copy_in(address)?;
    if time.seconds < 0 || !(0..1_000_000_000).contains(&time.nanoseconds) {
        return Err(Errno::EINVAL);
    }
    let seconds = (time.seconds as u64).saturating_mul(1_000_000_000);
    Ok(seconds.saturating_add(time.nanoseconds as u64))
}

/// The same where null means none.
pub(super) fn copy_in_optional_time(address: Address) -> Result<Option<u64>> {
    if address == 0 { Ok(None) } else { copy_in_time(address).map(Some) }
}
