//! New processes: copies of their parent, or guests in its memory.

use super::process::Beginning;
use super::{Lwp, Process, current, family, new_lwp, stop, table};
use crate::arch::Frame;
use crate::cpu::Here;
use crate::mm::{AddressSpace, Shared};
use crate::sched;
use syscalls::Errno;

/// Which memory a new process sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A copy of its parent's.
    Copied,
    /// Its parent's.
    Shared,
    /// Its parent's, until it runs another program or ends; the LWP that made it waits so long.
    Lent,
}

/// Makes a process with one LWP that enters user mode with `frame`; `prepare` finishes the LWP before it can run.
/// Returns the pid.
///
/// EAGAIN: too many processes or LWPs. ENOMEM. Nothing is left behind then.
pub(crate) fn new_process(
    memory: Memory,
    frame: &Frame,
    prepare: impl FnOnce(&Lwp, &AddressSpace),
) -> Result<u32, Errno> {
    let parent = current();
    let child = begin(parent, memory)?;
    let pid = child.pid();
    let lender = Here::get().lwp();
    let join = |lwp: &Lwp| {
        let mut family = family::lock();
        family.add(child.slot, pid, Some(parent.slot));
        if let Some(ending) = parent.ending() {
            // A signal to the parent's group may have come before the child was in it: whoever makes it ends with it.
            child.decide_ending(ending);
            lwp.kill();
        }
        stop::follow(&family, parent, child); // likewise
        if memory == Memory::Lent {
            child.lender.set(Some(lender));
            lender.has_lent.set(true);
        }
    };
    let made = new_lwp(child, Some(pid), frame, join, |lwp| prepare(lwp, child.space()));
    if made.is_err() {
        // SAFETY: the process never had an LWP.
        unsafe { child.let_go() };
        give_up(child);
    } else if memory == Memory::Lent {
        wait_to_have_back(lender, child);
    }
    made
}

/// A process like `parent`, without LWPs, that nobody can find.
fn begin(parent: &Process, memory: Memory) -> Result<&'static Process, Errno> {
    let space = match memory {
        Memory::Copied => Shared::new(parent.space().fork()?)?,
        Memory::Shared | Memory::Lent => parent.space().clone(),
    };
    let descriptors = parent.descriptors.lock().try_clone()?;
    let signal_actions = parent.signal_actions.lock().try_clone()?;
    let child = family::take_slot()?;
    let pid = new_pid().inspect_err(|_| family::give_back_slot(child))?;
    let (uid, program, parent) = (parent.uid(), parent.program(), parent.pid());
    // SAFETY: the slot was free, and is ours.
    unsafe { child.begin(Beginning { pid, parent, uid, program, space, descriptors, signal_actions }) };
    Ok(child)
}

/// An id that names neither a process or LWP nor a group whose leader is gone. EAGAIN, ENOMEM.
fn new_pid() -> Result<u32, Errno> {
    loop {
        let id = table::new_id()?;
        if !family::lock().names_a_group(id) {
            return Ok(id);
        }
        table::free_id(id); // the next one that is asked for is a higher one
    }
}

/// Takes back what [`begin`] took.
fn give_up(child: &'static Process) {
    let open = child.descriptors.lock().take_all();
    drop(open);
    table::free_id(child.pid());
    child.end();
    family::give_back_slot(child);
}

/// Waits until `child` has given the memory back. A killed LWP does not wait; the child keeps the memory then.
fn wait_to_have_back(lender: &Lwp, child: &Process) {
    loop {
        {
            let _family = family::lock();
            if !lender.has_lent.get() {
                return;
            }
            if lender.is_killed() {
                child.lender.set(None);
                lender.has_lent.set(false);
                return;
            }
        }
        sched::block();
    }
}

/// Gives the memory that `process` had been lent back to the lender, if it had.
pub(super) fn return_memory(process: &Process) {
    let family = family::lock();
    let Some(lender) = process.lender.take() else { return };
    lender.has_lent.set(false);
    drop(family);
    sched::wake(lender);
}
