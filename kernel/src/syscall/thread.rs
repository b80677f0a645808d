//! LWPs: making, ending, and waiting on words in memory.

use super::pointer::copy_in_optional_time;
use super::{Address, Int, Result, Size, Unsigned};
use crate::arch::{self, clock};
use crate::cpu::Here;
use crate::mm::layout::USER_END;
use crate::mm::user::copy_out;
use crate::proc::futex::{self, Word};
use crate::proc::{self, Ending};
use crate::time;
use kcore::futex::ANY;
use syscalls::Errno;

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
    if copy_out(word, &0u32).is_ok()
        && let Ok(word) = Word::shared(word)
    {
        futex::wake(&word, 1, ANY);
    }
}

/// Only tells the operations apart, in the callers: each has a function of its own.
#[inline(always)]
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
    let word = Operand { address: word, is_private: operation & PRIVATE != 0 };
    let word2 = Operand { address: word2, ..word };
    let moment = if operation & CLOCK_REALTIME != 0 { time::ticks_at_wall } else { time::ticks_at };
    match operation & !(PRIVATE | CLOCK_REALTIME) {
        WAIT => wait(word, value, ANY, timeout, |ns| clock().saturating_add(time::ticks_at(ns))),
        WAIT_BITSET => wait(word, value, value3, timeout, moment),
        WAKE => wake(word, value, ANY),
        WAKE_BITSET => wake(word, value, value3),
        // The number of waiters to move takes the place of the time-out pointer.
        REQUEUE => requeue(word, word2, value, timeout as u32, None),
        CMP_REQUEUE => requeue(word, word2, value, timeout as u32, Some(value3)),
        _ => Err(Errno::ENOSYS),
    }
}

/// A word as a program names it.
#[derive(Clone, Copy)]
struct Operand {
    address: Address,
    is_private: bool,
}

impl Operand {
    /// EINVAL: it is not aligned; EFAULT: it is not the program's; ENOMEM.
    #[inline(always)]
    fn decode(self) -> Result<Word> {
        match self.address {
            address if !address.is_multiple_of(4) => Err(Errno::EINVAL),
            USER_END.. => Err(Errno::EFAULT),
            address if self.is_private => Ok(Word::private(address)),
            address => Word::shared(address),
        }
    }
}

/// EINVAL: there is nothing in common with any waiter.
fn some(bits: Unsigned) -> Result<Unsigned> {
    if bits == 0 { Err(Errno::EINVAL) } else { Ok(bits) }
}

#[inline(never)]
fn wait(
    word: Operand,
    expected: Unsigned,
    bits: Unsigned,
    timeout: Address,
    moment: fn(u64) -> u64,
) -> Result {
    let (word, bits) = (word.decode()?, some(bits)?);
    let deadline = copy_in_optional_time(timeout)?.map(moment);
    futex::wait(&word, expected, bits, deadline).map(|()| 0)
}

#[inline(never)]
fn wake(word: Operand, count: Unsigned, bits: Unsigned) -> Result {
    let bits = some(bits)?;
    match word.is_private {
        true => Ok(futex::wake(&word.decode()?, count, bits)), // holds nothing to be let go of
        false => wake_shared(word, count, bits),
    }
}

#[inline(never)]
fn wake_shared(word: Operand, count: Unsigned, bits: Unsigned) -> Result {
    Ok(futex::wake(&word.decode()?, count, bits))
}

fn requeue(
    from: Operand,
    to: Operand,
    count: Unsigned,
    move_count: Unsigned,
    expected: Option<Unsigned>,
) -> Result {
    futex::requeue(&from.decode()?, &to.decode()?, count, move_count, expected)
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
