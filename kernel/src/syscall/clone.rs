//! Copies of the caller: LWPs of its process, and processes.

use super::{Address, Result, Size};
use crate::arch::Frame;
use crate::cpu::Here;
use crate::mm::AddressSpace;
use crate::mm::layout::USER_END;
use crate::mm::user::copy_out;
use crate::proc::signals::SIGCHLD;
use crate::proc::{self, Lwp, Memory, current};
use syscalls::Errno;

const CLONE_VM: Size = 0x100;
const CLONE_SIGHAND: Size = 0x800;
const CLONE_VFORK: Size = 0x4000;
const CLONE_THREAD: Size = 0x1_0000;
const CLONE_SETTLS: Size = 0x8_0000;
const CLONE_PARENT_SETTID: Size = 0x10_0000;
const CLONE_CHILD_CLEARTID: Size = 0x20_0000;
const CLONE_CHILD_SETTID: Size = 0x100_0000;

const SAME_PROCESS: Size = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
/// What a new process can be asked to be.
const PROCESS_FLAGS: Size = CLONE_VM
    | CLONE_VFORK
    | CLONE_SETTLS
    | CLONE_PARENT_SETTID
    | CLONE_CHILD_CLEARTID
    | CLONE_CHILD_SETTID
    | SIGCHLD as Size;

/// What `clone` takes besides flags that decide what is made.
#[derive(Clone, Copy)]
struct Wishes {
    flags: Size,
    /// The new LWP's stack pointer; 0: its maker's.
    stack: Address,
    parent_tid: Address,
    child_tid: Address,
    tls: Address,
}

pub(super) fn clone(
    flags: Size,
    stack: Address,
    parent_tid: Address,
    child_tid: Address,
    tls: Address,
) -> Result {
    if flags & CLONE_SETTLS != 0 && tls >= USER_END {
        return Err(Errno::EPERM);
    }
    let wishes = Wishes { flags, stack, parent_tid, child_tid, tls };
    match flags & SAME_PROCESS {
        SAME_PROCESS => make_lwp(wishes),
        0 | CLONE_VM => make_process(wishes),
        _ => Err(Errno::EINVAL),
    }
}

pub(super) fn fork() -> Result {
    clone(Size::from(SIGCHLD), 0, 0, 0, 0)
}

pub(super) fn vfork() -> Result {
    clone(CLONE_VM | CLONE_VFORK | Size::from(SIGCHLD), 0, 0, 0, 0)
}

fn make_lwp(wishes: Wishes) -> Result {
    let prepare = |lwp: &Lwp| {
        wishes.give_state(lwp);
        // As on Linux, a word that cannot be written is no reason not to make the LWP.
        for (wanted, word) in
            [(CLONE_PARENT_SETTID, wishes.parent_tid), (CLONE_CHILD_SETTID, wishes.child_tid)]
        {
            if wishes.flags & wanted != 0 {
                let _ = copy_out(word, &lwp.tid());
            }
        }
    };
    proc::new_lwp(current(), None, &wishes.frame(), |_| {}, prepare).map(u64::from)
}

/// The parent's end of a child's life is announced by `SIGCHLD` only: nothing else is asked for by libraries.
fn make_process(wishes: Wishes) -> Result {
    let flags = wishes.flags;
    if flags & !PROCESS_FLAGS != 0 || flags & Size::from(SIGCHLD) != Size::from(SIGCHLD) {
        return Err(Errno::EINVAL);
    }
    let memory = match (flags & CLONE_VM != 0, flags & CLONE_VFORK != 0) {
        (false, false) => Memory::Copied,
        (true, false) => Memory::Shared,
        (true, true) => Memory::Lent,
        (false, true) => return Err(Errno::EINVAL),
    };
    let prepare = |lwp: &Lwp, space: &AddressSpace| {
        wishes.give_state(lwp);
        if flags & CLONE_PARENT_SETTID != 0 {
            let _ = copy_out(wishes.parent_tid, &lwp.tid());
        }
        if flags & CLONE_CHILD_SETTID != 0 {
            let _ = space.put(wishes.child_tid, &lwp.tid().to_le_bytes());
        }
    };
    proc::new_process(memory, &wishes.frame(), prepare).map(u64::from)
}

impl Wishes {
    /// The registers of the new LWP: the caller's, but for the result and perhaps the stack pointer.
    fn frame(&self) -> Frame {
        // SAFETY: the frame lies at the top of the running LWP's stack, where the entry code left it, whole.
        let mut frame = unsafe { *Here::get().lwp().entry_frame() };
        frame.complete(0);
        if self.stack != 0 {
            frame.rsp = self.stack;
        }
        frame
    }

    /// Gives a new LWP what its maker has besides the general registers.
    fn give_state(&self, lwp: &Lwp) {
        let this = Here::get().lwp();
        // SAFETY: the new LWP cannot run yet, and this CPU's vector registers are the caller's.
        unsafe { lwp.fpu.save() };
        lwp.fs_base.set(if self.flags & CLONE_SETTLS != 0 { self.tls } else { this.fs_base.get() });
        lwp.gs_base.set(this.gs_base.get());
        lwp.signal_mask.set(this.signal_mask.get());
        lwp.set_nice(this.nice());
        if self.flags & CLONE_VM == 0 {
            lwp.signal_stack.set(this.signal_stack.get());
        }
        if self.flags & CLONE_CHILD_CLEARTID != 0 {
            lwp.clear_at_end.set(self.child_tid);
        }
    }
}
