//! Two CPUs and two LWPs: what `kernel/src/sched/dispatch.rs` does, without clocks, interrupts and idleness.
//!
//! A CPU is a thread of the scene. An LWP's program is what that thread does; where it goes to sleep the thread goes
//! on without it, and whoever takes the LWP from a queue carries on.

use kcore::sched::place::{self, Block, Fate, Place, Standing, Wake};
use kcore::sched::{Link, Links, Priority, RunQueue, Slot};
use loom::cell::{Cell, UnsafeCell};
use loom::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use loom::sync::{Mutex, MutexGuard};

/// The numbers of the CPUs.
pub(crate) const FIRST: u32 = 0;
pub(crate) const SECOND: u32 = 1;

/// The LWP that scenes are about, and another.
pub(crate) const LWP: Slot = Slot::new(0);
pub(crate) const OTHER: Slot = Slot::new(1);

struct Lwp {
    cpu: AtomicU32,
    killed: AtomicBool,
    /// The CPUs that it may use, as bits.
    allowed: AtomicU32,
    /// Guarded by the lock of its CPU's dispatcher, as `link` is.
    standing: Cell<Standing>,
    link: Link,
    /// Its kernel stack and registers: whose CPU uses them, while it does.
    stack: UnsafeCell<()>,
}

// SAFETY: loom stops at any use of a cell that is not ordered after the last.
unsafe impl Sync for Lwp {}

impl Lwp {
    /// One that runs on the first CPU.
    fn running() -> Lwp {
        Lwp {
            cpu: AtomicU32::new(FIRST),
            killed: AtomicBool::new(false),
            allowed: AtomicU32::new(0b11),
            standing: Cell::new(Standing::new().put(Place::Queued).put(Place::Running)),
            link: Link::new(),
            stack: UnsafeCell::new(()),
        }
    }
}

struct LwpLinks<'a>(&'a [Lwp; 2]);

impl Links for LwpLinks<'_> {
    fn link(&self, slot: Slot) -> &Link {
        &self.0[slot.index()].link
    }
}

/// Which CPU's lock is held, and what it guards.
type Locked<'a> = (u32, MutexGuard<'a, RunQueue>);

/// The scene's machine.
pub(crate) struct Machine {
    dispatchers: [Mutex<RunQueue>; 2],
    lwps: [Lwp; 2],
}

impl Machine {
    /// Both LWPs belong to the first CPU, and run as far as they know.
    pub(crate) fn new() -> Machine {
        Machine {
            dispatchers: [Mutex::new(RunQueue::new()), Mutex::new(RunQueue::new())],
            lwps: [Lwp::running(), Lwp::running()],
        }
    }

    fn lwp(&self, slot: Slot) -> &Lwp {
        &self.lwps[slot.index()]
    }

    fn lock(&self, cpu: u32) -> MutexGuard<'_, RunQueue> {
        self.dispatchers[cpu as usize].lock().unwrap()
    }

    fn lock_of(&self, slot: Slot) -> Locked<'_> {
        place::lock_of(&self.lwp(slot).cpu, |number| (number, self.lock(number)))
    }

    fn push(&self, queue: &mut RunQueue, slot: Slot) {
        queue.push_back(&LwpLinks(&self.lwps), slot, Priority::new(0));
    }

    /// `wake`: `target` is the CPU that was chosen.
    pub(crate) fn wake(&self, slot: Slot, target: u32) {
        let (cpu, mut dispatcher) = self.lock_of(slot);
        let lwp = self.lwp(slot);
        let (standing, wake) = lwp.standing.get().wake();
        lwp.standing.set(standing);
        match wake {
            Wake::Queue if target == cpu => self.push(&mut dispatcher, slot),
            Wake::Queue => {
                lwp.cpu.store(target, Release);
                drop(dispatcher);
                self.enqueue_moved(slot);
            }
            Wake::Keep | Wake::Nothing => {}
        }
    }

    fn enqueue_moved(&self, slot: Slot) {
        let mut dispatcher = self.lock_allowed(slot);
        self.push(&mut dispatcher, slot);
    }

    fn lock_allowed(&self, slot: Slot) -> MutexGuard<'_, RunQueue> {
        let lwp = self.lwp(slot);
        loop {
            let (cpu, dispatcher) = self.lock_of(slot);
            let allowed = lwp.allowed.load(Acquire);
            if allowed >> cpu & 1 != 0 {
                self.put(slot, Place::Queued);
                return dispatcher;
            }
            lwp.cpu.store(allowed.trailing_zeros(), Release);
        }
    }

    /// `set_allowed`: from now on the LWP may use `cpu` alone.
    pub(crate) fn allow_only(&self, slot: Slot, cpu: u32) {
        self.lwp(slot).allowed.store(1 << cpu, Release);
    }

    fn put(&self, slot: Slot, place: Place) {
        let standing = &self.lwp(slot).standing;
        standing.set(standing.get().put(place));
    }

    /// `kill` and `notice`.
    pub(crate) fn kill(&self, slot: Slot) {
        self.lwp(slot).killed.store(true, Relaxed);
        self.wake(slot, FIRST);
    }

    pub(crate) fn is_killed(&self, slot: Slot) -> bool {
        self.lwp(slot).killed.load(Relaxed)
    }

    /// `block` of an LWP that runs on `cpu`; the CPU then has no LWP.
    pub(crate) fn block(&self, cpu: u32, slot: Slot) -> Block {
        let dispatcher = self.lock(cpu);
        let lwp = self.lwp(slot);
        let fate = if self.is_killed(slot) { Fate::Sealed } else { Fate::Open };
        let (standing, block) = lwp.standing.get().block(fate);
        lwp.standing.set(standing);
        if block == Block::Sleep {
            self.leave_stack(slot);
        }
        drop(dispatcher); // by whoever comes next: `finish_switch`
        block
    }

    /// `move_to` of an LWP that runs on `cpu`.
    pub(crate) fn move_to(&self, cpu: u32, slot: Slot, target: u32) {
        let dispatcher = self.lock(cpu);
        self.put(slot, Place::Queued);
        self.leave_stack(slot);
        self.lwp(slot).cpu.store(target, Release);
        drop(dispatcher); // `finish_switch`
        self.enqueue_moved(slot);
    }

    /// `leave_idle` where somebody waits on this CPU.
    pub(crate) fn take_own(&self, cpu: u32) -> Option<Slot> {
        let mut dispatcher = self.lock(cpu);
        let slot = dispatcher.pop(&LwpLinks(&self.lwps))?;
        self.run(slot);
        Some(slot)
    }

    /// `leave_idle` where somebody waits on CPU `from`.
    pub(crate) fn take_from(&self, cpu: u32, from: u32) -> Option<Slot> {
        let slot = {
            let mut dispatcher = self.lock(from);
            let slot = dispatcher.pop(&LwpLinks(&self.lwps))?;
            self.lwp(slot).cpu.store(cpu, Release);
            slot
        };
        let _dispatcher = self.lock(cpu);
        self.run(slot);
        Some(slot)
    }

    /// `leave_wrong_cpu` of an LWP that is not the caller, one time around: false where it is to be tried again.
    pub(crate) fn move_queued(&self, slot: Slot, target: u32) -> bool {
        let (cpu, mut dispatcher) = self.lock_of(slot);
        let lwp = self.lwp(slot);
        match lwp.standing.get().place() {
            _ if cpu == target => true,
            Place::Queued if dispatcher.remove(&LwpLinks(&self.lwps), slot) => {
                lwp.cpu.store(target, Release);
                drop(dispatcher);
                self.enqueue_moved(slot);
                true
            }
            Place::Running | Place::Queued => false,
            Place::Blocked | Place::Nowhere => true,
        }
    }

    /// `switch` to an LWP, under the lock of the CPU that it is going to run on.
    fn run(&self, slot: Slot) {
        self.put(slot, Place::Running);
        self.leave_stack(slot); // it has come to use the stack, and will leave it before the next switch
    }

    /// The last use of its stack before a switch, or the first after one.
    fn leave_stack(&self, slot: Slot) {
        self.lwp(slot).stack.with_mut(|_| ());
    }

    /// Where an LWP is, when all is quiet, and its CPU.
    pub(crate) fn place(&self, slot: Slot) -> (Place, u32) {
        let lwp = self.lwp(slot);
        (lwp.standing.get().place(), lwp.cpu.load(Acquire))
    }

    /// When all is quiet: who is queued is in one queue, once, and that is its CPU's; nobody else is in any.
    pub(crate) fn assert_queues(&self) {
        for slot in [LWP, OTHER] {
            let (place, cpu) = self.place(slot);
            let of = |cpu| self.lock(cpu).iter(&LwpLinks(&self.lwps)).filter(|&other| other == slot).count();
            let expected = |number| usize::from(place == Place::Queued && cpu == number);
            assert_eq!(
                [FIRST, SECOND].map(of),
                [FIRST, SECOND].map(expected),
                "{slot:?} is {place:?} on {cpu}"
            );
        }
    }
}
