//! LWPs: what the kernel keeps of each thread of execution.
//!
//! **Problem.** Anyone may ask about any LWP, from any CPU, while it runs, ends, and its place is used for the next
//! one; and the asking must be cheap. **Answer.** LWPs live in slots that are never given back to the heap: a reference
//! to a slot stays valid for ever, and whether it still is the LWP that was meant is told by the tid in its ledger,
//! which the ledger's reader checks inside its window. No count has to be taken and no lock held.

use super::process::Process;
use crate::arch::{self, Context, FpuState, Frame};
use crate::mm::stacks::KernelStack;
use crate::pset::Binding;
use crate::sched::{self, Partition};
use crate::sema::Token;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use kcore::acct::LwpLedger;
use kcore::futex::Waiter;
use kcore::sched::balance::CpuSet;
use kcore::sched::credit::Credit;
use kcore::sched::place::{Block, Fate, Place, Standing, Wake};
use kcore::sched::{Link, Nice, Priority, Slot};
use syscalls::linux::SignalStack;

/// No alternate stack (SS_DISABLE).
const NO_STACK: SignalStack = SignalStack { address: 0, flags: 2, pad: 0, length: 0 };

/// Orders to an LWP.
const END: u8 = 1;
const STOP: u8 = 2;

/// One LWP, or a free slot. The fields are grouped by who may use them.
pub(crate) struct Lwp {
    // --- fixed for the slot ---
    /// The slot's number.
    pub(crate) slot: Slot,

    // --- read by anyone ---
    /// Where its time goes. Written under the dispatcher's lock or, for the crossings, by its CPU's ledger.
    pub(crate) ledger: LwpLedger,
    /// The LWP's id; 0: the slot is free.
    tid: AtomicU32,
    /// What it must do as soon as it is about to return to user mode, as bits.
    orders: AtomicU8,
    /// The process it belongs to; null: the slot is free.
    process: AtomicPtr<Process>,
    /// The CPUs that it wants to use, as bits, of those of its partition.
    wanted: AtomicU64,
    /// The partition whose CPUs it uses. Changes under the lock of processor sets and that of its CPU's dispatcher.
    partition: AtomicPtr<Partition>,
    /// The CPU whose dispatcher's lock guards the group below. Changes under that lock only.
    pub(crate) cpu: AtomicU32,

    // --- guarded by that dispatcher's lock ---
    /// The place in a run queue.
    pub(crate) link: Link,
    standing: Cell<Standing>,
    /// It is counted in its partition: from before it can run until it ends.
    pub(crate) is_counted: Cell<bool>,
    /// How much it lets others go first, and the priority that this makes.
    nice: Cell<Nice>,
    own_priority: Cell<Priority>,
    /// At which priority it waits and runs: by its nice value and its credit, or because it has a turn.
    priority: Cell<Priority>,
    /// Whether it may go before its turn, and since when it sleeps.
    credit: Cell<Credit>,
    pub(crate) asleep_since: Cell<u64>,

    // --- guarded by the futex queues' lock ---
    /// Its place in a queue.
    pub(super) futex: Waiter,

    // --- guarded by the lock of processor sets ---
    /// To which CPUs it keeps.
    pub(crate) binding: Cell<Binding>,

    // --- guarded by the lock of an arena ---
    /// Its place in the queue of a semaphore.
    pub(crate) semaphore: kcore::sema::Waiter,

    // --- guarded by its process's lock ---
    /// It has noted that it is to stop, and stops.
    pub(super) has_noted_stop: Cell<bool>,

    // --- guarded by the family's lock ---
    /// It waits for a child's end: whoever ends as such a child takes this back and wakes it.
    pub(crate) waits_for_child: Cell<bool>,
    /// A child that it made by `vfork` still uses its memory.
    pub(crate) has_lent: Cell<bool>,

    // --- the LWP's own, or its maker's and its ender's while it cannot run ---
    pub(crate) context: Context,
    pub(crate) fpu: FpuState,
    stack: UnsafeCell<Option<KernelStack>>,
    /// Bases of the segments that user code sees.
    pub(crate) fs_base: Cell<u64>,
    pub(crate) gs_base: Cell<u64>,
    /// The blocked signals and the alternate stack, kept for libraries that ask.
    pub(crate) signal_mask: Cell<u64>,
    pub(crate) signal_stack: Cell<SignalStack>,
    /// The user word that is cleared and woken at the end; 0: none.
    pub(crate) clear_at_end: Cell<u64>,
    /// What its last P gave it, and whether that has yet to reach user mode.
    pub(crate) token: Cell<Option<Token>>,
    pub(crate) carries_token: Cell<bool>,

    // --- counted by its CPU, read by anyone ---
    /// Page faults that were resolved.
    pub(crate) faults: AtomicU64,
    /// Switches because it gave way, and because it was made to.
    pub(crate) voluntary: AtomicU64,
    pub(crate) involuntary: AtomicU64,
}

// SAFETY: every field is atomic, or says above whose lock or whose turn guards it.
unsafe impl Sync for Lwp {}

impl Lwp {
    /// A free slot.
    pub(super) const fn free(slot: Slot) -> Self {
        Lwp {
            slot,
            ledger: LwpLedger::new(),
            tid: AtomicU32::new(0),
            orders: AtomicU8::new(0),
            process: AtomicPtr::new(core::ptr::null_mut()),
            wanted: AtomicU64::new(u64::MAX),
            partition: AtomicPtr::new(core::ptr::null_mut()),
            cpu: AtomicU32::new(0),
            link: Link::new(),
            standing: Cell::new(Standing::new()),
            is_counted: Cell::new(false),
            nice: Cell::new(Nice::DEFAULT),
            own_priority: Cell::new(Nice::DEFAULT.priority()),
            priority: Cell::new(Nice::DEFAULT.priority()),
            credit: Cell::new(Credit::new()),
            asleep_since: Cell::new(0),
            futex: Waiter::new(),
            semaphore: kcore::sema::Waiter::new(),
            binding: Cell::new(Binding::new()),
            has_noted_stop: Cell::new(false),
            waits_for_child: Cell::new(false),
            has_lent: Cell::new(false),
            context: Context::new(),
            fpu: FpuState::new(),
            stack: UnsafeCell::new(None),
            fs_base: Cell::new(0),
            gs_base: Cell::new(0),
            signal_mask: Cell::new(0),
            signal_stack: Cell::new(NO_STACK),
            clear_at_end: Cell::new(0),
            token: Cell::new(None),
            carries_token: Cell::new(false),
            faults: AtomicU64::new(0),
            voluntary: AtomicU64::new(0),
            involuntary: AtomicU64::new(0),
        }
    }

    /// Makes the slot an LWP of `process` that will enter user mode with `frame`. It is in no queue yet.
    ///
    /// # Safety
    /// The slot is free, and the caller's alone.
    pub(super) unsafe fn begin(
        &self,
        tid: u32,
        process: &'static Process,
        stack: KernelStack,
        frame: &Frame,
    ) {
        self.tid.store(tid, Relaxed);
        self.orders.store(0, Relaxed);
        self.has_noted_stop.set(false);
        self.want_cpus(CpuSet(u64::MAX));
        self.set_partition(sched::DEFAULT);
        self.credit.set(Credit::new());
        self.set_nice(Nice::DEFAULT);
        self.waits_for_child.set(false);
        self.has_lent.set(false);
        self.process.store(core::ptr::from_ref(process).cast_mut(), Relaxed);
        self.fs_base.set(0);
        self.gs_base.set(0);
        self.clear_at_end.set(0);
        self.carries_token.set(false);
        self.signal_mask.set(0);
        self.signal_stack.set(NO_STACK);
        for counter in [&self.faults, &self.voluntary, &self.involuntary] {
            counter.store(0, Relaxed);
        }
        // SAFETY: the slot is the caller's alone, so is the new stack.
        unsafe {
            self.context.prepare(stack.top(), frame);
            *self.stack.get() = Some(stack);
        }
    }

    /// Makes the running LWP's own state that of a program's first.
    pub(super) fn begin_program(&self) {
        self.fs_base.set(0);
        self.gs_base.set(0);
        self.clear_at_end.set(0);
        self.signal_stack.set(NO_STACK);
        // SAFETY: the LWP runs here, so nobody else uses its state.
        unsafe {
            self.fpu.reset();
            self.load_user_state(None);
        }
    }

    /// Takes back what [`Lwp::begin`] gave: the stack, which is free from now on.
    ///
    /// # Safety
    /// The LWP has ended, and nobody runs on its stack.
    pub(super) unsafe fn end(&self) -> Option<KernelStack> {
        self.tid.store(0, Relaxed);
        self.process.store(core::ptr::null_mut(), Relaxed);
        // SAFETY: by the contract nobody uses the stack.
        unsafe { (*self.stack.get()).take() }
    }

    /// The LWP's id; 0 where it has ended.
    #[inline]
    pub(crate) fn tid(&self) -> u32 {
        self.tid.load(Relaxed)
    }

    /// The process it belongs to. Of a living LWP only.
    #[inline]
    pub(crate) fn process(&self) -> &'static Process {
        self.any_process().expect("a living LWP has a process")
    }

    /// The process it belongs to, if the slot is an LWP's now.
    #[inline]
    pub(crate) fn any_process(&self) -> Option<&'static Process> {
        // SAFETY: null, or the address of a process slot, which is for ever.
        unsafe { self.process.load(Relaxed).as_ref() }
    }

    /// Whether both are of one process, so that the memory in use by one is the other's. Of living LWPs only.
    #[inline]
    pub(crate) fn is_beside(&self, other: &Lwp) -> bool {
        core::ptr::eq(self.process.load(Relaxed), other.process.load(Relaxed))
    }

    /// It takes the id of its process, whose first LWP is no more. For the running LWP itself.
    pub(super) fn take_tid(&self, tid: u32) {
        self.tid.store(tid, Relaxed);
    }

    /// Top of its kernel stack. Of a living LWP only.
    pub(crate) fn stack_top(&self) -> u64 {
        // SAFETY: the stack is set before the LWP can run and taken after it has ended.
        unsafe { (*self.stack.get()).as_ref() }.expect("a living LWP has a stack").top()
    }

    /// Where the dispatcher has it. With the lock of its CPU's dispatcher.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        self.standing.get().place()
    }

    /// Starts, moves or ends it. With the lock of its CPU's dispatcher.
    #[inline]
    pub(crate) fn set_place(&self, place: Place) {
        self.standing.set(self.standing.get().put(place));
    }

    /// Has it block, if it may; it is the running LWP. With the lock of its CPU's dispatcher.
    #[inline]
    pub(crate) fn block(&self) -> Block {
        let fate = if self.is_killed() { Fate::Sealed } else { Fate::Open };
        let (standing, block) = self.standing.get().block(fate);
        self.standing.set(standing);
        block
    }

    /// Ends its sleep, if it sleeps. With the lock of its CPU's dispatcher.
    #[inline]
    pub(crate) fn wake(&self) -> Wake {
        let (standing, wake) = self.standing.get().wake();
        self.standing.set(standing);
        wake
    }

    /// At which priority it waits and runs now. With the lock of its CPU's dispatcher.
    #[inline]
    pub(crate) fn priority(&self) -> Priority {
        self.priority.get()
    }

    /// It has a turn before all others, until it next leaves its CPU. With that lock.
    pub(crate) fn give_turn(&self) {
        self.priority.set(Priority::TURN);
    }

    /// Its nice value. With that lock, or for a look that may be late.
    pub(crate) fn nice(&self) -> Nice {
        self.nice.get()
    }

    /// Gives it another nice value; with that lock, or before it can run. `sched::set_nice` sees to it that it counts.
    pub(crate) fn set_nice(&self, nice: Nice) {
        self.nice.set(nice);
        self.own_priority.set(nice.priority());
        self.set_credit(self.credit.get());
    }

    /// It slept, or ran, for so many ticks; a turn is over. With that lock.
    #[inline]
    pub(crate) fn slept(&self, ticks: u64, slice: u64) {
        self.set_credit(self.credit.get().after_sleep(ticks, slice));
    }

    #[inline]
    pub(crate) fn ran(&self, ticks: u64, slice: u64) {
        self.set_credit(self.credit.get().after_run(ticks, slice));
    }

    #[inline]
    fn set_credit(&self, credit: Credit) {
        self.credit.set(credit);
        self.priority.set(self.own_priority.get().raised(credit.is_there()));
    }

    /// The CPUs that it may use: those of its partition that it wants, or all of them where it wants none of them.
    #[inline]
    pub(crate) fn allowed(&self) -> CpuSet {
        let cpus = self.partition().cpus();
        let wanted = cpus.and(CpuSet(self.wanted.load(SeqCst)));
        if wanted.is_empty() { cpus } else { wanted }
    }

    /// Says which CPUs it wants to use; `sched::leave_wrong_cpu` sees to it that it does.
    pub(crate) fn want_cpus(&self, wanted: CpuSet) {
        self.wanted.store(wanted.0, SeqCst);
    }

    /// The partition whose CPUs it uses. Of a slot that is or was an LWP's.
    #[inline]
    pub(crate) fn partition(&self) -> &'static Partition {
        let partition = self.partition.load(Acquire);
        debug_assert!(!partition.is_null(), "an LWP is in a partition");
        // SAFETY: set when the LWP began, to one of the partitions, which are static.
        unsafe { &*partition }
    }

    /// Puts it into another one; `sched::move_lwp` does what belongs to it.
    pub(crate) fn set_partition(&self, partition: &'static Partition) {
        self.partition.store(core::ptr::from_ref(partition).cast_mut(), Release);
    }

    /// Whether it has to end.
    #[inline]
    pub(crate) fn is_killed(&self) -> bool {
        self.orders.load(Relaxed) & END != 0
    }

    /// Whether it has to stop.
    #[inline]
    pub(crate) fn is_to_stop(&self) -> bool {
        self.orders.load(Relaxed) & STOP != 0
    }

    /// Whether it has to do neither.
    #[inline]
    pub(crate) fn has_no_orders(&self) -> bool {
        self.orders.load(Relaxed) == 0
    }

    /// Has it end before it next returns to user mode, and block no more; the caller then wakes it or asks its CPU for
    /// attention.
    pub(crate) fn kill(&self) {
        self.orders.fetch_or(END, Relaxed);
    }

    /// Has it stop before it next returns to user mode or where it blocks; the caller then does as for [`Lwp::kill`].
    pub(super) fn order_stop(&self) {
        self.orders.fetch_or(STOP, Relaxed);
    }

    /// Has it go on; the caller then wakes it.
    pub(super) fn order_go_on(&self) {
        self.orders.fetch_and(!STOP, Relaxed);
    }

    /// The registers with which it entered the kernel, at the top of its stack.
    pub(crate) fn entry_frame(&self) -> *mut Frame {
        (self.stack_top() - size_of::<Frame>() as u64) as *mut Frame
    }

    /// Loads what user code of this LWP expects in this CPU besides the general registers. `previous` is the LWP whose
    /// state was there until now, if that is known.
    ///
    /// # Safety
    /// This LWP is the one that runs here from now on.
    #[inline]
    pub(crate) unsafe fn load_user_state(&self, previous: Option<&Lwp>) {
        // SAFETY: the saved state is this LWP's, and nobody else runs it.
        unsafe { self.fpu.load() };
        let had_selectors = arch::clear_user_selectors();
        arch::set_user_fs(self.fs_base.get());
        if had_selectors || previous.is_none_or(|previous| previous.gs_base.get() != self.gs_base.get()) {
            arch::set_user_gs(self.gs_base.get()); // hardly anyone has one
        }
    }
}
