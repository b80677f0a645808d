//! Another program in the same process.
//!
//! Everything that can fail comes first: the new memory is laid out beside the old. Then the other LWPs end, and from
//! there on nothing fails. The LWP that is left becomes the process's first, under its pid; its time goes on.

use super::program::{Start, load};
use super::{Lwp, Process, fork, table};
use crate::cpu::Here;
use crate::debug::fail;
use crate::fs::root::RootFile;
use syscalls::Errno;

/// What to run. The strings are without their final zero.
pub(crate) struct Program<'a> {
    /// The file.
    pub(crate) file: RootFile,
    /// The path by which it was named.
    pub(crate) path: &'a [u8],
    pub(crate) arguments: &'a [&'a [u8]],
    pub(crate) environment: &'a [&'a [u8]],
}

/// Makes the running process run `program`, and returns where that begins.
///
/// ENOEXEC, E2BIG, ENOMEM; EINTR: the LWP must end. Nothing has changed then.
pub(crate) fn run_program(program: &Program) -> Result<Start, Errno> {
    let lwp = Here::get().lwp();
    let process = lwp.process();
    let loaded = load(program, process.uid())?;
    process.leave_alone(lwp)?;
    become_first(process, lwp);
    // SAFETY: this is the only LWP, and it has asked for the space for single calls only.
    let old = unsafe { process.replace_space(loaded.space) };
    process.space().activate();
    drop(old);
    fork::return_memory(process);
    close_descriptors(process);
    process.signal_actions.lock().keep_ignored();
    lwp.begin_program();
    fail::forget();
    process.set_program(program.file);
    Ok(loaded.start)
}

/// The first LWP of a process has the process's id: so does the one that is left.
fn become_first(process: &Process, lwp: &'static Lwp) {
    let (old, pid) = (lwp.tid(), process.pid());
    if old == pid {
        return;
    }
    // Whoever sums up the process holds its lock, and sees the old id or the new one in both places.
    process.with_ledger(|_, _| {
        let _dispatcher = Here::get().cpu().dispatcher.lock();
        lwp.ledger.rename(pid);
        lwp.take_tid(pid);
    });
    table::name(pid, lwp.slot);
    table::free_id(old);
}

fn close_descriptors(process: &Process) {
    // One by one, each let go of after the lock.
    while let Some(open) = { process.descriptors.lock().take_close_on_exec() } {
        drop(open);
    }
}
