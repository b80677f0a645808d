//! LWPs: making, ending, and waiting on words in memory.

use super::pointer::copy_in_optional_time;
use super::{Address, Int, Result, Size, Unsigned};
use crate::arch::{self, clock};
use crate::cpu::Here;
use crate::mm::layout::USER_END;
use crate::mm::user::copy_out;
use crate::proc::futex::{self, Key};
use crate::proc::{self, Ending, Lwp, current};
use crate::time;
use syscalls::Errno;

const CLONE_VM: Size = 0x100;
const CLONE_SIGHAND: Size = 0x800;
const CLONE_THREAD: Size = 0x1_0000;
const CLONE_SETTLS: Size = 0x8_0000;
const CLONE_PARENT_SETTID: Size = 0x10_0000;
const CLONE_CHILD_CLEARTID: Size = 0x20_0000;
const CLONE_CHILD_SETTID: Size = 0x100_0000;

pub(super) fn clone(
    flags: Size,
    stack: Address,
    parent_tid: Address,
    child_tid: Address,
    tls: Address,
) -> Result {
    const SAME_PROCESS: Size = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
    match flags & SAME_PROCESS {
        SAME_PROCESS => {}
        0 => return Err(Errno::ENOSYS), // new processes: not yet
        _ => return Err(Errno::EINVAL),
    }
    if flags & CLONE_SETTLS != 0 && tls >= USER_END {
        return Err(Errno::EPERM);
    }
    let this = Here::get().lwp();
    // SAFETY: the frame lies at the top of the running LWP's stack, where the entry code left it.
    let mut frame = unsafe { *this.entry_frame() };
    frame.complete(0);
    if stack != 0 {
        frame.rsp = stack;
    }
    let prepare = |lwp: &Lwp| {
        // SAFETY: the new LWP cannot run yet, and this CPU's vector registers are the caller's.
        unsafe { lwp.fpu.save() };
        lwp.fs_base.set(if flags & CLONE_SETTLS != 0 { tls } else { this.fs_base.get() });
        lwp.gs_base.set(this.gs_base.get());
        lwp.signal_mask.set(this.signal_mask.get());
        if flags & CLONE_CHILD_CLEARTID != 0 {
            lwp.clear_at_end.set(child_tid);
        }
        // As on Linux, a word that cannot be written is no reason not to make the LWP.
        for (wanted, word) in [(CLONE_PARENT_SETTID, parent_tid), (CLONE_CHILD_SETTID, child_tid)] {
            if flags & wanted != 0 {
                let _ = copy_out(word, &lwp.tid());
            }
        }
    };
    proc::new_lwp(current(), None, &frame, prepare).map(u64::from)
}

pub(super) fn exit(status: Int) -> Result {
    proc::exit_lwp(status as u8)
}

pub(super) fn exit_group(status: Int) -> Result {
    proc::exit_group(Ending::Exit(status as u8))
}

pub(super) fn set_tid_address(word: Address) -> Result {
    let lwp = Here::get().lwp();
    lwp.clear_at_end.set(word);
    Ok(u64::from(lwp.tid()))
}

pub(super) fn set_robust_list(_head: Address, length: Size) -> Result {
    const HEAD_BYTES: Size = 24;
    if length == HEAD_BYTES { Ok(0) } else { Err(Errno::EINVAL) }
}

/// Clears the word that an ending LWP was asked to clear, and wakes one that waits on it.
pub(crate) fn clear_and_wake(word: Address) {
    if copy_out(word, &0u32).is_ok() {
        futex::wake(Key::private(word), 1, u32::MAX);
    }
}

pub(super) fn futex(
    word: Address,
    operation: Int,
    value: Unsigned,
    timeout: Address,
    word2: Address,
    value3: Unsigned,
) -> Result {
    const WAIT: Int = 0;
    const WAKE: Int = 1;
    const REQUEUE: Int = 3;
    const CMP_REQUEUE: Int = 4;
    const WAIT_BITSET: Int = 9;
    const WAKE_BITSET: Int = 10;
    const PRIVATE: Int = 128;
    const CLOCK_REALTIME: Int = 256;
    if !word.is_multiple_of(4) || word >= USER_END {
        return Err(if word.is_multiple_of(4) { Errno::EFAULT } else { Errno::EINVAL });
    }
    let key = Key::private(word);
    match operation & !(PRIVATE | CLOCK_REALTIME) {
        WAIT => {
            let length = copy_in_optional_time(timeout)?;
            let deadline = length.map(|ns| clock().saturating_add(time::ticks_at(ns)));
            futex::wait(key, word, value, u32::MAX, deadline)
        }
        WAIT_BITSET if value3 != 0 => {
            let moment = copy_in_optional_time(timeout)?;
            let wall = operation & CLOCK_REALTIME != 0;
            let deadline = moment.map(|ns| if wall { time::ticks_at_wall(ns) } else { time::ticks_at(ns) });
            futex::wait(key, word, value, value3, deadline)
        }
        WAKE => Ok(futex::wake(key, value, u32::MAX)),
        WAKE_BITSET if value3 != 0 => Ok(futex::wake(key, value, value3)),
        // The number of waiters to move takes the place of the time-out pointer.
        REQUEUE => futex::requeue(key, requeue_target(word2)?, value, timeout as u32, None),
        CMP_REQUEUE => {
            futex::requeue(key, requeue_target(word2)?, value, timeout as u32, Some((word, value3)))
        }
        WAIT_BITSET | WAKE_BITSET => Err(Errno::EINVAL),
        _ => Err(Errno::ENOSYS),
    }
}

fn requeue_target(word: Address) -> Result<Key> {
    match word {
        _ if !word.is_multiple_of(4) => Err(Errno::EINVAL),
        USER_END.. => Err(Errno::EFAULT),
        _ => Ok(Key::private(word)),
    }
}

pub(super) fn arch_prctl(code: Int, address: Address) -> Result {
    const SET_GS: Int = 0x1001;
    const SET_FS: Int = 0x1002;
    const GET_FS: Int = 0x1003;
    const GET_GS: Int = 0x1004;
    let lwp = Here::get().lwp();
    match code {
        SET_FS | SET_GS if address >= USER_END => return Err(Errno::EPERM),
        SET_FS => {
            lwp.fs_base.set(address);
            arch::set_user_fs(address);
        }
        SET_GS => {
            lwp.gs_base.set(address);
            arch::set_user_gs(address);
        }
        GET_FS => copy_out(address, &lwp.fs_base.get())?,
        GET_GS => copy_out(address, &lwp.gs_base.get())?,
        _ => return Err(Errno::EINVAL),
    }
    Ok(0)
}
