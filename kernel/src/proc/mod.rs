//! Processes and LWPs: how they begin and how they end.
//!
//! **An LWP ends in two steps.** On its own stack it gives back what it can while it still runs ([`exit_current`]); the
//! last active LWP of a process gives the process's memory and files back, in its own time. Then it switches away for
//! good, and the context that comes next on that CPU [`reclaim`]s what it stood on: the stack, the slot, the id, and
//! its time, which goes to the process and to the machine's total of ended LWPs under the process's lock, so that
//! whoever sums up a process neither misses nor doubles it.
//!
//! **A process ends once.** The first `exit_group`, fatal fault or fatal signal decides how; everyone else's is too
//! late. Its other LWPs are marked killed and woken, and end on their way to user mode. When the last is reclaimed, and
//! all time is booked, the process can be waited for ([`family`]).
//!
//! **A process stops** when all its LWPs do, each where it waits or would return to user mode ([`stop`]).
//!
//! **A killed LWP leaves every queue** by the way it came in: whoever waits, for whatever, looks after each wake-up
//! whether it is to end, takes itself out, and returns up to the way to user mode.

mod exec;
pub(crate) mod family;
mod fork;
pub(crate) mod futex;
mod lwp;
pub(crate) mod machine;
mod meant;
mod process;
mod program;
pub(crate) mod signals;
mod slots;
pub(crate) mod stop;
pub(crate) mod table;

pub(crate) use exec::{Program, run_program};
pub(crate) use fork::{Memory, new_process};
pub(crate) use lwp::Lwp;
pub(crate) use meant::Meant;
use process::Left;
pub(crate) use process::{Ending, Lwps, Process};
pub(crate) use program::{MOST_ARGUMENT_BYTES, start_first};
pub(crate) use signals::interrupt_first;

use crate::arch::{self, Frame};
use crate::cpu::{self, Here};
use crate::debug::stretch;
use crate::fs::console;
use crate::mm::AddressSpace;
use crate::mm::stack_depth;
use crate::mm::stacks::KernelStack;
use crate::{pset, sched, sema};
use syscalls::Errno;

/// What a program did that the CPU refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    /// The fault, in words.
    pub(crate) name: &'static str,
    /// The signal whose default action ends the process.
    pub(crate) signal: u8,
    /// The address that was accessed, where it is known.
    pub(crate) address: Option<u64>,
    /// The instruction that did it.
    pub(crate) instruction: u64,
}

/// The process of the running LWP.
#[inline]
pub(crate) fn current() -> &'static Process {
    Here::get().lwp().process()
}

/// The address space of the running LWP, until it runs another program.
#[inline]
pub(crate) fn current_space() -> &'static AddressSpace {
    current().space()
}

/// Makes an LWP of `process` that will enter user mode with `frame`, under `tid` or a new one. `join` is called when the
/// process has it, at the moment at which it is bound as its maker; `prepare` finishes it before it can run.
///
/// EAGAIN: too many LWPs, or the process is ending. ENOMEM. Nothing is left behind then.
pub(crate) fn new_lwp(
    process: &'static Process,
    tid: Option<u32>,
    frame: &Frame,
    join: impl FnOnce(&Lwp),
    prepare: impl FnOnce(&Lwp),
) -> Result<u32, Errno> {
    let stack = KernelStack::new()?;
    let lwp = table::take()?;
    let id = sched::reserve_alarms().and_then(|()| tid.map_or_else(table::new_id, Ok));
    let added = id.and_then(|id| {
        // SAFETY: the slot was free and is ours.
        unsafe { lwp.begin(id, process, stack, frame) };
        pset::admit(lwp, || process.add(lwp).map(|()| join(lwp)))
            .inspect_err(|_| {
                if tid.is_none() {
                    table::free_id(id)
                }
            })
            .map(|()| id)
    });
    let Ok(id) = added else {
        // SAFETY: the LWP was never made runnable.
        drop(unsafe { lwp.end() });
        table::give_back(lwp);
        return added;
    };
    prepare(lwp);
    table::name(id, lwp.slot);
    sched::start(lwp);
    Ok(id)
}

/// Ends the process of the running LWP, as `ending` says unless that is decided already.
pub(crate) fn exit_group(ending: Ending) -> ! {
    end_process(current(), ending);
    exit_current()
}

/// Has a process end, as `ending` says unless that is decided already: its LWPs end on their way to user mode.
pub(crate) fn end_process(process: &'static Process, ending: Ending) {
    if process.decide_ending(ending) {
        process.for_each_member(|member| {
            member.kill();
            sched::notice(member);
        });
    }
}

/// Ends the running LWP by its own wish; the process ends with its last LWP, and with that one's status.
pub(crate) fn exit_lwp(status: u8) -> ! {
    leave(Ending::Exit(status))
}

/// How many processes there are, those that wait to be reaped included.
pub(crate) fn process_count() -> u16 {
    family::count() as u16
}

/// Ends the running process for what it did, with a line on the console.
pub(crate) fn end_by_fault(fault: Fault) -> ! {
    let lwp = Here::get().lwp();
    let process = lwp.process();
    let address = format_args!("{:#x}", fault.address.unwrap_or(fault.instruction));
    console::print(format_args!(
        "tally: {} (pid {}, LWP {}): {} at {address}, instruction {:#x}\n",
        process.program().name,
        process.pid(),
        lwp.tid(),
        fault.name,
        fault.instruction,
    ));
    exit_group(Ending::Signal(fault.signal))
}

/// Ends the running LWP, which was told to.
pub(crate) fn exit_current() -> ! {
    sema::pass_on(Here::get().lwp());
    leave(Ending::Exit(0)) // how the process ends is decided already
}

/// Ends the running LWP: gives back what it can in its own time, and leaves for good. If it is the last of its process
/// and nothing else is decided, the process ends as `ending` says.
fn leave(ending: Ending) -> ! {
    cpu::window(); // those that are killed follow one another without ever returning to user mode
    let lwp = Here::get().lwp();
    let process = lwp.process();
    pset::leave(lwp);
    clear_word(lwp, process);
    if process.leave() {
        process.decide_ending(ending);
        let open = process.descriptors.lock().take_all();
        drop(open);
        if process.pid() == 1 {
            end_of_first(process)
        }
        if process.space().is_unique() {
            process.space().clear();
        }
        fork::return_memory(process);
    }
    sched::end_current()
}

/// Clears the word that the LWP named, if somebody is left who may look. The word is as a rule a lock of those who have
/// the memory. So an LWP that was told to end clears nothing for its own process: they all are told to, and as long as
/// another still runs in user mode, it would find the lock open and what it guards half done.
fn clear_word(lwp: &Lwp, process: &Process) {
    let word = lwp.clear_at_end.take();
    let all_end = lwp.is_killed() || process.ending().is_some();
    if word != 0 && (process.is_multithreaded() && !all_end || !process.space().is_unique()) {
        crate::syscall::clear_and_wake(word);
    }
}

/// The first process has ended: so does the machine.
fn end_of_first(process: &Process) -> ! {
    if process.space().is_unique() {
        process.space().clear();
    }
    stack_depth::check_own();
    crate::mm::log_usage();
    stretch::report();
    match process.ending() {
        Some(Ending::Signal(signal)) => arch::tell_outcome(format_args!("signal {signal}")),
        Some(Ending::Exit(status)) => arch::tell_outcome(format_args!("exit {status}")),
        None => unreachable!("an ended process has an ending"),
    }
    arch::power_off()
}

/// Takes back what an ended LWP stood on. From another context, after the switch away from it.
pub(crate) fn reclaim(lwp: &'static Lwp) {
    let (process, tid) = (lwp.process(), lwp.tid());
    // Once the LWP is out of the process, the last one may be reclaimed elsewhere, and the process be reaped and its id
    // used again: all that needs either comes first.
    let is_first = tid == process.pid();
    if is_first {
        table::unname(tid);
    }
    let left = process.reclaim(lwp);
    // SAFETY: the LWP has ended, and this CPU has left its stack.
    drop(unsafe { lwp.end() });
    if !is_first {
        table::free_id(tid);
    }
    table::give_back(lwp);
    match left {
        Left::Nobody => {
            // SAFETY: the last LWP is gone, and the CPUs that ran one have switched away.
            unsafe { process.let_go() };
            family::end(process);
        }
        Left::Stopped => stop::tell(process),
        Left::Others => {}
    }
}
