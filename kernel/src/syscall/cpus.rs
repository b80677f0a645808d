//! Which CPU an LWP runs on, and which it may use.

use super::pointer::optional;
use super::{Address, Int, Result, Size};
use crate::cpu::Here;
use crate::mm::user::{copy_in, copy_out, read_bytes};
use crate::proc::{Lwp, table};
use crate::{pset, sched};
use kcore::sched::balance::CpuSet;
use syscalls::Errno;

/// Sets of CPUs are words of 64 bits; there are no more CPUs than fit one.
const WORD: Size = 8;

#[inline]
pub(super) fn sched_yield() -> Result {
    sched::yield_now();
    Ok(0)
}

pub(super) fn getcpu(cpu: Address, node: Address, _unused: Address) -> Result {
    let number = Here::get().number();
    if node != 0 {
        copy_in::<u32>(node)?; // nothing is written where one of the two cannot be
    }
    optional(cpu, |cpu| copy_out(cpu, &number))?;
    optional(node, |node| copy_out(node, &0u32))?;
    Ok(0)
}

pub(super) fn sched_getaffinity(tid: Int, length: Size, mask: Address) -> Result {
    if !length.is_multiple_of(WORD) || length == 0 {
        return Err(Errno::EINVAL);
    }
    let allowed = find(tid)?.allowed();
    copy_out(mask, &allowed.0)?;
    Ok(WORD)
}

pub(super) fn sched_setaffinity(tid: Int, length: Size, mask: Address) -> Result {
    let mut bytes = [0; WORD as usize];
    read_bytes(mask, &mut bytes[..length.min(WORD) as usize])?;
    pset::set_affinity(find(tid)?.tid(), CpuSet(u64::from_le_bytes(bytes)))?;
    Ok(0)
}

/// The LWP of that tid, 0 being the caller. ESRCH.
fn find(tid: Int) -> Result<&'static Lwp> {
    match tid {
        0 => Ok(Here::get().lwp()),
        1.. => table::find(tid as u32).ok_or(Errno::ESRCH),
        _ => Err(Errno::ESRCH),
    }
}
