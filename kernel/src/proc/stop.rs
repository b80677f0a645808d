//! Stopping a process, and letting it go on: what job control is made of.
//!
//! **Problem.** A process that is stopped runs no instruction of its program, and its parent is told when that is so: when
//! all its LWPs have stopped, wherever they were. **Answer.** Every LWP is given the order to stop and woken. One on its
//! way to user mode stops there; one that waits for something looks at it, finds it missing, and waits on as stopped, in
//! every wait and without the wait knowing. What it waits for may come meanwhile: it takes it, and stops on its way to user
//! mode. Each notes that it stops before it does; the one that is the last tells the parent.
//!
//! **Order.** A stop begins and ends under the family's lock, and what is counted is under the process's: an LWP is counted
//! where it is a member when the stop begins or becomes one later, and not any more when it has noted the stop or is
//! reclaimed. It notes it before it takes its dispatcher's lock, and looks at the order again under it; one that goes on
//! is woken after the order is taken back, so it either does not block or is woken.
//!
//! A signal that would end a stopped process waits until it goes on, but SIGKILL does not.

use super::family::{self, Family};
use super::process::Process;
use super::{Ending, Lwp, end_process};
use crate::sched;
use kcore::process::Change;

/// A process that is to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    /// For which signal.
    signal: u8,
    /// How many LWPs have not noted it.
    moving: usize,
    /// The parent was told.
    is_told: bool,
    /// A signal that will end the process when it goes on; 0: none.
    fatal: u8,
}

impl Stop {
    /// An LWP, which has not noted the stop, becomes a member.
    pub(super) fn joined(&mut self, lwp: &Lwp) {
        lwp.order_stop();
        self.moving += 1;
    }

    /// An LWP notes the stop, or is a member no more. Returns whether all have stopped now.
    pub(super) fn noted(&mut self, lwp: &Lwp) -> bool {
        if lwp.has_noted_stop.replace(true) {
            return false;
        }
        self.moving -= 1;
        self.moving == 0
    }

    /// All LWPs have stopped.
    pub(super) const fn is_complete(&self) -> bool {
        self.moving == 0
    }
}

/// Has `process` stop for `signal`, unless it is stopping or ending.
pub(super) fn stop(_family: &Family, process: &Process, signal: u8) {
    process.with_stop(|stop, members| {
        if stop.is_none() && process.ending().is_none() {
            let mut new = Stop { signal, moving: 0, is_told: false, fatal: 0 };
            members.iter().for_each(|member| {
                member.has_noted_stop.set(false);
                new.joined(member);
            });
            *stop = Some(new);
            members.iter().for_each(|member| sched::notice(member));
        }
    });
}

/// A child, which cannot run yet, stops if its parent is to.
pub(super) fn follow(family: &Family, parent: &Process, child: &Process) {
    if let Some(stop) = parent.with_stop(|stop, _| *stop) {
        self::stop(family, child, stop.signal);
    }
}

/// Has `process` go on, if it is stopped or stopping; and end, if it was to.
pub(super) fn go_on(family: &mut Family, process: &'static Process) {
    let before = process.with_stop(|stop, members| {
        if stop.is_some() {
            members.iter().for_each(|member| {
                member.order_go_on();
                sched::wake(member);
            });
        }
        stop.take()
    });
    let Some(before) = before else { return };
    if before.is_told {
        family::changed(family, process, Change::Continued);
    }
    if before.fatal != 0 {
        end_process(process, Ending::Signal(before.fatal));
    }
}

/// Keeps a signal that would end `process` until it goes on; false where it is not stopping.
pub(super) fn keep(_family: &Family, process: &Process, signal: u8) -> bool {
    process.with_stop(|stop, _| {
        let Some(stop) = stop else { return false };
        if stop.fatal == 0 {
            stop.fatal = signal;
        }
        true
    })
}

/// The running LWP is about to stop.
#[cold]
pub(crate) fn note(lwp: &Lwp) {
    let process = lwp.process();
    if process.with_stop(|stop, _| stop.as_mut().is_some_and(|stop| stop.noted(lwp))) {
        tell(process);
    }
}

/// All LWPs of `process` have stopped, unless it goes on by now: its parent is told.
pub(super) fn tell(process: &'static Process) {
    let mut family = family::lock();
    let signal = process.with_stop(|stop, _| {
        let stop = stop.as_mut().filter(|stop| stop.is_complete() && !stop.is_told)?;
        stop.is_told = true;
        Some(stop.signal)
    });
    if let Some(signal) = signal {
        family::changed(&mut family, process, Change::Stopped(signal));
    }
}
