//! Who lets others go first: `getpriority` and `setpriority`, with Linux's meaning, where a process is its first LWP.

use super::{Int, Result};
use crate::cpu::Here;
use crate::proc::{Meant, current, family};
use crate::sched;
use kcore::sched::Nice;
use syscalls::Errno;

pub(super) fn getpriority(which: Int, who: Int) -> Result {
    let mut least = None;
    meant(which, who)?
        .for_each(|lwp, _, _| least = Some(least.map_or(lwp.nice(), |nice: Nice| nice.min(lwp.nice()))));
    least.map(Nice::told).ok_or(Errno::ESRCH)
}

/// EPERM: an LWP of another user's is meant; EACCES: one would be less nice than it is, which user 0 alone may ask for. Those
/// that may be changed are, as on Linux.
pub(super) fn setpriority(which: Int, who: Int, nice: Int) -> Result {
    let nice = Nice::nearest(nice);
    let caller = current().uid();
    let mut result = Err(Errno::ESRCH);
    meant(which, who)?.for_each(|lwp, tid, owner| {
        let refused = match caller {
            0 => None,
            _ if caller != owner.uid() => Some(Errno::EPERM),
            _ if nice < lwp.nice() => Some(Errno::EACCES),
            _ => None,
        };
        match refused {
            Some(errno) => result = Err(errno),
            None => {
                sched::set_nice(lwp, tid, nice);
                result = result.or_else(|errno| if errno == Errno::ESRCH { Ok(0) } else { Err(errno) });
            }
        }
    });
    result
}

/// EINVAL.
fn meant(which: Int, who: Int) -> Result<Meant> {
    const PROCESS: Int = 0;
    const GROUP: Int = 1;
    const USER: Int = 2;
    match (which, who) {
        (PROCESS, 0) => Ok(Meant::Lwp(Here::get().lwp().tid())),
        (PROCESS, _) => Ok(Meant::Lwp(who as u32)), // no LWP has a negative id
        (GROUP, 0) => Ok(Meant::Group(family::group_of(current()))),
        (GROUP, _) => Ok(Meant::Group(who as u32)),
        (USER, 0) => Ok(Meant::User(current().uid())),
        (USER, _) => Ok(Meant::User(who as u32)),
        _ => Err(Errno::EINVAL),
    }
}
