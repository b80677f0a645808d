//! Who the caller is.

use super::{Int, Result, Unsigned};
use crate::cpu::Here;
use crate::proc::{current, family};
use syscalls::Errno;

pub(super) fn getpid() -> Result {
    Ok(u64::from(current().pid()))
}

pub(super) fn getppid() -> Result {
    Ok(u64::from(current().parent()))
}

pub(super) fn gettid() -> Result {
    Ok(u64::from(Here::get().lwp().tid()))
}

pub(super) fn thread_self() -> Result {
    gettid()
}

pub(super) fn getuid() -> Result {
    Ok(u64::from(current().uid()))
}

pub(super) fn geteuid() -> Result {
    getuid()
}

pub(super) fn getgid() -> Result {
    Ok(0)
}

pub(super) fn getegid() -> Result {
    Ok(0)
}

pub(super) fn setuid(uid: Unsigned) -> Result {
    let process = current();
    match process.uid() {
        0 => process.set_uid(uid),
        own if own == uid => {}
        _ => return Err(Errno::EPERM),
    }
    Ok(0)
}

pub(super) fn getpgrp() -> Result {
    Ok(u64::from(family::group_of(current())))
}

pub(super) fn getpgid(pid: Int) -> Result {
    family::with_relations(named(pid)?, |family, slot| family.group(slot)).map(u64::from)
}

pub(super) fn getsid(pid: Int) -> Result {
    family::with_relations(named(pid)?, |family, slot| family.session(slot)).map(u64::from)
}

pub(super) fn setpgid(pid: Int, group: Int) -> Result {
    let group = u32::try_from(group).map_err(|_| Errno::EINVAL)?;
    if pid < 0 {
        return Err(Errno::EINVAL);
    }
    family::set_group(current(), named(pid)?, group)?;
    Ok(0)
}

pub(super) fn setsid() -> Result {
    family::begin_session(current()).map(u64::from)
}

/// The pid that is meant: 0 is the caller's. ESRCH.
fn named(pid: Int) -> Result<u32> {
    match pid {
        0 => Ok(current().pid()),
        _ => u32::try_from(pid).map_err(|_| Errno::ESRCH),
    }
}
