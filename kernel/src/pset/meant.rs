//! Which LWPs are to be bound.

use crate::cpu::Here;
use crate::proc::{Lwp, Meant, Process, current};
use crate::sched;
use kcore::pset::Sets;
use syscalls::Errno;

/// Which LWPs are to be bound, as a user says it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    /// The one with this tid.
    Lwp(u32),
    /// Those of the process with this pid.
    Process(u32),
    /// Those of a set: `PS_MYID` where there is no id.
    Set(Option<i32>),
    /// All.
    All,
}

impl Bound {
    /// Who that is. EINVAL: there is no such set; ESRCH: there is no such LWP or process, or it has ended.
    pub(super) fn find(self, sets: &Sets) -> Result<Found, Errno> {
        let found = match self {
            Bound::Lwp(tid) => Found { meant: Meant::Lwp(tid), place: None },
            Bound::Process(pid) => Found { meant: Meant::Process(pid), place: None },
            Bound::All => return Ok(Found { meant: Meant::All, place: None }),
            Bound::Set(id) => {
                let own = Here::get().lwp().partition().number();
                let place = id.map_or(Ok(own), |id| sets.find(id))?;
                return Ok(Found::all_in(place));
            }
        };
        found.lowest().map(|_| found).ok_or(Errno::ESRCH)
    }
}

/// Which LWPs are to be bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) meant: Meant,
    /// Of them, those of the set in this place only.
    pub(super) place: Option<usize>,
}

impl Found {
    /// All LWPs of the set in a place.
    pub(super) const fn all_in(place: usize) -> Found {
        Found { meant: Meant::All, place: Some(place) }
    }

    /// The same LWPs, when they have gone to the set in another place, and all that are there already.
    pub(super) const fn now_in(self, place: usize) -> Found {
        Found {
            place: match self.place {
                None => None,
                Some(_) => Some(place),
            },
            ..self
        }
    }

    /// Calls `each` for every one of them, with its tid. Under the lock of the sets.
    pub(super) fn for_each(self, mut each: impl FnMut(&'static Lwp, u32)) {
        self.for_each_of_process(|lwp, tid, _| each(lwp, tid));
    }

    fn for_each_of_process(self, mut each: impl FnMut(&'static Lwp, u32, &Process)) {
        self.meant.for_each(|lwp, tid, process| {
            if self.place.is_none_or(|place| lwp.partition().number() == place) {
                each(lwp, tid, process);
            }
        });
    }

    /// Whether something holds of any of them.
    pub(super) fn any(self, holds: impl Fn(&'static Lwp) -> bool) -> bool {
        let mut any = false;
        self.for_each(|lwp, _| any |= holds(lwp));
        any
    }

    /// The one of the lowest tid.
    pub(super) fn lowest(self) -> Option<&'static Lwp> {
        let mut lowest: Option<(u32, &'static Lwp)> = None;
        self.for_each(|lwp, tid| {
            if lowest.is_none_or(|(other, _)| tid < other) {
                lowest = Some((tid, lwp));
            }
        });
        lowest.map(|(_, lwp)| lwp)
    }

    /// EPERM: one of them is another user's than the caller, who is not user 0.
    pub(super) fn check_owner(self) -> Result<(), Errno> {
        let caller = current().uid();
        let mut is_refused = false;
        self.for_each_of_process(|_, _, process| is_refused |= caller != 0 && caller != process.uid());
        if is_refused { Err(Errno::EPERM) } else { Ok(()) }
    }

    /// Where the CPUs that they may use have changed: offers those that wait to idle CPUs, which may be new to them, and
    /// waits until none of them runs where it may not any more; the caller, if it is one, leaves on its way to user mode.
    /// Without the lock of the sets.
    pub(super) fn settle(self) {
        let caller = Here::get().lwp();
        sched::leave_wrong_cpu(caller, caller.tid());
        self.for_each(|lwp, _| sched::offer(lwp));
        loop {
            let mut wrong = None;
            self.for_each(|lwp, tid| {
                if !core::ptr::eq(lwp, caller) && sched::is_on_wrong_cpu(lwp) {
                    wrong = Some((lwp, tid));
                }
            });
            let Some((lwp, tid)) = wrong else { return };
            sched::leave_wrong_cpu(lwp, tid);
        }
    }
}
