//! Signals, as far as default actions go: no handler ever runs. Dispositions, masks and stacks are kept and given back,
//! since libraries set and restore them.

use super::pointer::optional;
use super::{Address, Int, Result, Size};
use crate::cpu::Here;
use crate::mm::user::{copy_in, copy_out};
use crate::proc::{self, Process, current, table};
use kcore::signal::{Action, default_action};
use syscalls::Errno;
use syscalls::linux::{SignalAction, SignalStack};

const SET_BYTES: Size = 8;
const SIGKILL: Int = 9;
const SIGSTOP: Int = 19;
const HIGHEST: Int = 64;
const IGNORE: u64 = 1;

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

pub(super) fn tkill(tid: Int, signal: Int) -> Result {
    send(None, tid, signal)
}

pub(super) fn tgkill(pid: Int, tid: Int, signal: Int) -> Result {
    if pid <= 0 {
        return Err(Errno::EINVAL);
    }
    send(Some(pid as u32), tid, signal)
}

/// Takes the default action of `signal` on the process of LWP `tid`, unless it ignores it.
fn send(pid: Option<u32>, tid: Int, signal: Int) -> Result {
    if tid <= 0 || !(0..=HIGHEST).contains(&signal) {
        return Err(Errno::EINVAL);
    }
    // Only the caller's own process can be looked at without its table's lock; there is no other yet.
    let process = current();
    let lwp = table::find(tid as u32).filter(|lwp| process.has(lwp, tid as u32)).ok_or(Errno::ESRCH)?;
    if pid.is_some_and(|pid| pid != process.pid) || lwp.tid() != tid as u32 {
        return Err(Errno::ESRCH);
    }
    if signal != 0 {
        deliver(process, signal as u8);
    }
    Ok(0)
}

fn deliver(process: &'static Process, signal: u8) {
    let ignored = process.signal_actions.lock().get(signal).handler == IGNORE;
    match default_action(signal) {
        Action::Ignore => {}
        _ if ignored && i32::from(signal) != SIGKILL => {}
        Action::End => proc::end_process(process, proc::Ending::Signal(signal)),
    }
}
