//! Who the caller is.

use super::Result;
use crate::cpu::Here;
use crate::proc::current;

pub(super) fn getpid() -> Result {
    Ok(u64::from(current().pid))
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
