//! Which LWPs a call is about.

use super::{Lwp, Process, family, table};
use kcore::process::Which;

/// Which LWPs are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    /// The one with this tid.
    Lwp(u32),
    /// Those of the process with this pid.
    Process(u32),
    /// Those of the processes of this group.
    Group(u32),
    /// Those of this user's processes.
    User(u32),
    /// All.
    All,
}

impl Meant {
    /// Calls `each` for every LWP that is meant, with its tid and process, under the process's lock. Some may have ended and
    /// not be reclaimed.
    pub(crate) fn for_each(self, mut each: impl FnMut(&'static Lwp, u32, &'static Process)) {
        let which = match self {
            Meant::Lwp(tid) => {
                return table::find(tid).into_iter().for_each(|lwp| {
                    let process = lwp.any_process().filter(|process| process.has(lwp, tid));
                    process.into_iter().for_each(|process| each(lwp, tid, process));
                });
            }
            Meant::Process(pid) => Which::Pid(pid),
            Meant::Group(group) => Which::Group(group),
            Meant::User(_) | Meant::All => Which::Any,
        };
        family::for_each(which, |process| {
            if let Meant::User(uid) = self
                && process.uid() != uid
            {
                return;
            }
            process.for_each_member(|lwp| each(lwp, lwp.tid(), process));
        });
    }
}
