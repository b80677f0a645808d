//! What a process asked to happen on signals, and sending them.

use super::family::Family;
use super::{Ending, Process, current, end_process, family, stop, table};
use alloc::vec::Vec;
use kcore::process::Which;
use kcore::signal::{Action, default_action};
use syscalls::Errno;
use syscalls::linux::SignalAction;

/// C: `SIG_IGN`.
const IGNORE: u64 = 1;
const SIGKILL: u8 = 9;
const SIGSTOP: u8 = 19;
/// A child has ended.
pub(crate) const SIGCHLD: u8 = 17;
/// Go on.
pub(crate) const SIGCONT: u8 = 18;
/// Flag of `SIGCHLD`'s action: children are not kept for `wait`.
const NO_CHILD_WAIT: u64 = 2;

/// The dispositions that are not the default, by signal.
pub(crate) struct SignalActions(Vec<(u8, SignalAction)>);

impl SignalActions {
    /// All by default.
    pub(super) const fn new() -> Self {
        SignalActions(Vec::new())
    }

    /// The disposition of `signal`.
    pub(crate) fn get(&self, signal: u8) -> SignalAction {
        self.0.iter().find(|(of, _)| *of == signal).map_or(SignalAction::default(), |(_, action)| *action)
    }

    /// Changes it. ENOMEM, and nothing has changed.
    pub(crate) fn set(&mut self, signal: u8, action: SignalAction) -> Result<(), Errno> {
        if let Some((_, place)) = self.0.iter_mut().find(|(of, _)| *of == signal) {
            *place = action;
            return Ok(());
        }
        self.0.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.0.push((signal, action));
        Ok(())
    }

    /// The same for a new process. ENOMEM.
    pub(super) fn try_clone(&self) -> Result<Self, Errno> {
        let mut actions = Vec::new();
        actions.try_reserve(self.0.len()).map_err(|_| Errno::ENOMEM)?;
        actions.extend_from_slice(&self.0);
        Ok(SignalActions(actions))
    }

    /// For a new program: what had a handler has the default again, what is ignored stays so.
    pub(super) fn keep_ignored(&mut self) {
        self.0.retain(|(_, action)| action.handler == IGNORE);
    }

    /// All by default.
    pub(super) fn clear(&mut self) {
        self.0 = Vec::new();
    }

    fn ignores(&self, signal: u8) -> bool {
        !matches!(signal, SIGKILL | SIGSTOP) && self.get(signal).handler == IGNORE
    }

    /// Whether children are to vanish when they end, instead of waiting to be waited for.
    pub(super) fn forgets_children(&self) -> bool {
        let action = self.get(SIGCHLD);
        action.handler == IGNORE || action.flags & NO_CHILD_WAIT != 0
    }
}

/// Sends `signal` (0: none, only asks whether it could) to all processes that are meant and that the caller may send
/// to; [`Which::Any`] leaves out the first process and the caller's. ESRCH: there is none; EPERM: the caller may send
/// to none of them.
pub(crate) fn send(which: Which, signal: u8) -> Result<(), Errno> {
    let sender = current();
    let mut family = family::lock();
    let mut result = Err(Errno::ESRCH);
    let spared = |process: &Process| process.pid() == 1 || core::ptr::eq(process, sender);
    family::for_each_meant(&mut family, which, |family, process| {
        if which == Which::Any && spared(process) {
            return;
        }
        match (may_send(sender, process), result) {
            (true, _) => {
                deliver(family, process, signal);
                result = Ok(());
            }
            (false, Err(_)) => result = Err(Errno::EPERM),
            (false, Ok(())) => {}
        }
    });
    result
}

/// Sends `signal` to the LWP `tid`, of process `pid` if that is given. ESRCH, EPERM.
pub(crate) fn send_to_lwp(pid: Option<u32>, tid: u32, signal: u8) -> Result<(), Errno> {
    let mut family = family::lock();
    let lwp = table::find(tid).ok_or(Errno::ESRCH)?;
    // The slot may have become another LWP's meanwhile; its process says under its lock whether it has not.
    let process = lwp.any_process().filter(|process| process.has(lwp, tid)).ok_or(Errno::ESRCH)?;
    if pid.is_some_and(|pid| pid != process.pid()) {
        return Err(Errno::ESRCH);
    }
    if !may_send(current(), process) {
        return Err(Errno::EPERM);
    }
    deliver(&mut family, process, signal);
    Ok(())
}

/// Sends the running process a signal that its own doing raised.
pub(crate) fn raise(signal: u8) {
    deliver(&mut family::lock(), current(), signal);
}

/// The person at the terminal wants the first program to end.
pub(crate) fn interrupt_first() {
    const SIGINT: u8 = 2;
    let mut family = family::lock();
    if let Some(slot) = family.find(1) {
        deliver(&mut family, family::process(slot), SIGINT);
    }
}

fn may_send(sender: &Process, to: &Process) -> bool {
    sender.uid() == 0 || sender.uid() == to.uid()
}

/// Takes the default action of `signal`, unless the process ignores it. The family's lock keeps the process what it is; one
/// that has ended hears nothing.
fn deliver(family: &mut Family, process: &'static Process, signal: u8) {
    if signal == 0 || family.has_ended(process.slot) {
        return;
    }
    let action = default_action(signal);
    if action == Action::Continue {
        return stop::go_on(family, process);
    }
    if process.signal_actions.lock().ignores(signal) {
        return;
    }
    match action {
        Action::Stop => stop::stop(family, process, signal),
        Action::End if signal != SIGKILL && stop::keep(family, process, signal) => {}
        Action::End => end_process(process, Ending::Signal(signal)),
        Action::Ignore | Action::Continue => {}
    }
}
