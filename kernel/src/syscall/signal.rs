//! Signals, as far as default actions go: no handler ever runs. Dispositions, masks and stacks are kept and given back,
//! since libraries set and restore them.

use super::pointer::optional;
use super::{Address, Int, Result, Size};
use crate::cpu::Here;
use crate::mm::user::{copy_in, copy_out};
use crate::proc::{current, family, signals};
use kcore::process::Which;
use syscalls::Errno;
use syscalls::linux::{SignalAction, SignalStack};

const SET_BYTES: Size = 8;
const SIGKILL: Int = 9;
const SIGSTOP: Int = 19;
const HIGHEST: Int = 64;

pub(super) fn rt_sigaction(signal: Int, new: Address, old: Address, set_size: Size) -> Result {
    if set_size != SET_BYTES || !(1..=HIGHEST).contains(&signal) {
        return Err(Errno::EINVAL);
    }
    if new != 0 && matches!(signal, SIGKILL | SIGSTOP) {
        return Err(Errno::EINVAL);
    }
    let action: Option<SignalAction> = if new == 0 { None } else { Some(copy_in(new)?) };
    let actions = &current().signal_actions;
    let before = actions.lock().get(signal as u8);
    optional(old, |old| copy_out(old, &before))?;
    if let Some(action) = action {
        actions.lock().set(signal as u8, action)?;
    }
    Ok(0)
}

pub(super) fn rt_sigprocmask(how: Int, new: Address, old: Address, set_size: Size) -> Result {
    const BLOCK: Int = 0;
    const UNBLOCK: Int = 1;
    const SET: Int = 2;
    if set_size != SET_BYTES {
        return Err(Errno::EINVAL);
    }
    let mask = &Here::get().lwp().signal_mask;
    let before = mask.get();
    let after = if new == 0 {
        before
    } else {
        let set: u64 = copy_in(new)?;
        match how {
            BLOCK => before | set,
            UNBLOCK => before & !set,
            SET => set,
            _ => return Err(Errno::EINVAL),
        }
    };
    optional(old, |old| copy_out(old, &before))?;
    mask.set(after);
    Ok(0)
}

pub(super) fn sigaltstack(new: Address, old: Address) -> Result {
    const DISABLE: u32 = 2;
    const SMALLEST: u64 = 2048;
    let kept = &Here::get().lwp().signal_stack;
    let stack: Option<SignalStack> = if new == 0 { None } else { Some(copy_in(new)?) };
    match stack {
        Some(stack) if stack.flags & !DISABLE != 0 => return Err(Errno::EINVAL),
        Some(stack) if stack.flags & DISABLE == 0 && stack.length < SMALLEST => return Err(Errno::ENOMEM),
        _ => {}
    }
    optional(old, |old| copy_out(old, &kept.get()))?;
    if let Some(stack) = stack {
        kept.set(SignalStack { pad: 0, ..stack });
    }
    Ok(0)
}

pub(super) fn kill(pid: Int, signal: Int) -> Result {
    let which = match pid {
        -1 => Which::Any,
        0 => Which::Group(family::group_of(current())),
        i32::MIN => return Err(Errno::ESRCH),
        -0x7fff_ffff..-1 => Which::Group(pid.unsigned_abs()),
        1.. => Which::Pid(pid as u32),
    };
    signals::send(which, checked(signal)?)?;
    Ok(0)
}

pub(super) fn tkill(tid: Int, signal: Int) -> Result {
    send_to_lwp(None, tid, signal)
}

pub(super) fn tgkill(pid: Int, tid: Int, signal: Int) -> Result {
    if pid <= 0 {
        return Err(Errno::EINVAL);
    }
    send_to_lwp(Some(pid as u32), tid, signal)
}

fn send_to_lwp(pid: Option<u32>, tid: Int, signal: Int) -> Result {
    if tid <= 0 {
        return Err(Errno::EINVAL);
    }
    signals::send_to_lwp(pid, tid as u32, checked(signal)?)?;
    Ok(0)
}

/// EINVAL: there is no such signal.
fn checked(signal: Int) -> Result<u8> {
    if (0..=HIGHEST).contains(&signal) { Ok(signal as u8) } else { Err(Errno::EINVAL) }
}
