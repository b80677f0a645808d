//! The CPUs, and the way from running code to the data of the CPU that runs it.
//!
//! **Rule.** A CPU's data is written by that CPU alone, with interrupts off. Kernel code runs with interrupts off
//! except in the idle loop and at the windows it states, and is never preempted; so whoever holds a [`Here`] is alone
//! with the cells behind it until it switches to another LWP, after which it may be on another CPU and must ask again.
//! What others may read or write is atomic or inside a lock, and says so.

mod counters;
mod requests;
mod start;

pub(crate) use requests::{flush_others, hold_all, serve};
pub(crate) use start::start_others;

use crate::arch::{self, CpuArea};
use crate::debug::stretch;
use crate::mm::stacks::KernelStack;
use crate::proc::Lwp;
use crate::sched::Dispatcher;
use crate::sync::{HeldLocks, Lock, Rank};
use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ops::Deref;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use kcore::acct::CpuLedger;
use kcore::timers::TimerQueue;

/// How many CPUs the kernel can use.
pub(crate) use arch::MAX_CPUS;

/// One CPU.
#[repr(C)]
pub(crate) struct Cpu {
    /// What the entry code needs; first, since its address is the GS base.
    pub(crate) area: CpuArea,
    /// The LWP that runs here; None in the idle loop. Changes in a switch, with the dispatcher's lock held; to be read by this
    /// CPU, or by who holds that lock.
    pub(crate) current: Cell<Option<&'static Lwp>>,
    /// Something must be done before the next return to user mode: written by any CPU, read by this one.
    attention: AtomicBool,
    /// 0 … n−1.
    pub(crate) id: AtomicU32,
    /// The id of its interrupt controller.
    apic_id: AtomicU32,
    /// It has come up.
    online: AtomicBool,
    /// The page table that it translates by, announced before it is loaded. Written by this CPU, read by all.
    pub(crate) root: AtomicU64,
    /// What others ask of it.
    requests: requests::Requests,
    /// How it came up.
    greeting: start::Greeting,
    /// Where its time goes. Written by this CPU, read by all.
    pub(crate) ledger: CpuLedger,
    /// The LWPs that wait for this CPU.
    pub(crate) dispatcher: Lock<Dispatcher>,
    /// What this CPU holds, for the assertions of debug builds.
    pub(crate) held: HeldLocks,
    /// For which moment the timer is set; `u64::MAX`: not set. Its own CPU's to use.
    pub(crate) timer_set_for: Cell<u64>,
    /// When the running LWP's slice ends, if others wait; `u64::MAX`: never. Its own CPU's to use.
    pub(crate) slice_end: Cell<u64>,
    /// The running LWP gives way on its next return to user mode: its slice has ended, or one of better priority waits.
    /// Written by any CPU.
    pub(crate) slice_over: AtomicBool,
    /// The priority of the running LWP. Written by this CPU, read by all.
    pub(crate) priority: AtomicU8,
    /// An LWP that has ended here and whose stack is free once another runs. Its own CPU's to use.
    pub(crate) ended: Cell<Option<&'static Lwp>>,
    /// The time-outs of LWPs that wait here.
    pub(crate) timers: Lock<TimerQueue>,
    /// How many LWPs wait here, and whether one runs: for those who look for a place or for work. They change under the
    /// dispatcher's lock.
    pub(crate) waiting: AtomicU32,
    pub(crate) busy: AtomicBool,
    /// An LWP that leaves for another CPU, and which, until its stack is free. Its own CPU's to use.
    pub(crate) moving: Cell<Option<(&'static Lwp, u32)>>,
    /// When the running LWP came. Its own CPU's to use.
    pub(crate) dispatched_at: Cell<u64>,
    /// How many LWPs are bound to it by `processor_bind`. Changes under the lock of processor sets.
    bound: AtomicU32,
    /// What it went through.
    pub(crate) counters: counters::Counters,
    /// The context of the idle loop.
    pub(crate) idle: arch::Context,
}

// SAFETY: the cells are touched by their own CPU only, through a `Here`, which does not leave it; all else is atomic or
// locked.
unsafe impl Sync for Cpu {}

impl Cpu {
    /// Where the request for attention lies, for the entry code: a byte.
    pub(crate) const ATTENTION: usize = offset_of!(Cpu, attention);

    /// Where its system calls are counted, for the entry code: 64 bits.
    pub(crate) const SYSTEM_CALLS: usize =
        offset_of!(Cpu, counters) + offset_of!(counters::Counters, system_calls);

    /// A CPU that has not come up.
    pub(crate) const fn new() -> Self {
        Cpu {
            area: CpuArea::new(),
            current: Cell::new(None),
            attention: AtomicBool::new(false),
            id: AtomicU32::new(0),
            apic_id: AtomicU32::new(0),
            online: AtomicBool::new(false),
            root: AtomicU64::new(0),
            requests: requests::Requests::new(),
            greeting: start::Greeting::new(),
            ledger: CpuLedger::new(),
            dispatcher: Lock::new(Rank::Dispatcher, Dispatcher::new()),
            held: HeldLocks::new(),
            timer_set_for: Cell::new(u64::MAX),
            slice_end: Cell::new(u64::MAX),
            slice_over: AtomicBool::new(false),
            priority: AtomicU8::new(0),
            ended: Cell::new(None),
            timers: Lock::new(Rank::Timers, TimerQueue::new()),
            waiting: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            moving: Cell::new(None),
            dispatched_at: Cell::new(0),
            bound: AtomicU32::new(0),
            counters: counters::Counters::new(),
            idle: arch::Context::new(),
        }
    }

    /// The CPU's number.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.id.load(Ordering::Relaxed)
    }

    /// The id of its interrupt controller.
    pub(crate) fn apic_id(&self) -> u8 {
        self.apic_id.load(Ordering::Relaxed) as u8
    }

    /// Whether it has come up.
    fn is_online(&self) -> bool {
        self.online.load(Ordering::SeqCst)
    }

    /// How many LWPs are bound to it. Under the lock of processor sets, as are the two that follow.
    pub(crate) fn bound_lwps(&self) -> u32 {
        self.bound.load(Ordering::Relaxed)
    }

    /// One LWP more is bound to it.
    pub(crate) fn bind_lwp(&self) {
        self.bound.fetch_add(1, Ordering::Relaxed);
    }

    /// One LWP less is bound to it.
    pub(crate) fn unbind_lwp(&self) {
        self.bound.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether something must be done before this CPU returns to user mode.
    #[inline(always)]
    pub(crate) fn wants_attention(&self) -> bool {
        self.attention.load(Ordering::Relaxed)
    }

    /// Asks this CPU to look, before its next return to user mode, whether its LWP has to give way or to end.
    pub(crate) fn ask_for_attention(&self) {
        self.attention.store(true, Ordering::SeqCst);
        if self.number() != Here::get().number() {
            self.kick();
        }
    }

    /// Interrupts this CPU, another one than the caller's, so that it looks what is asked of it.
    pub(crate) fn kick(&self) {
        Here::get().counters.cross_calls.add();
        arch::kick(self.apic_id());
    }

    /// Takes the request back; whoever does so looks at everything it may have been about.
    pub(crate) fn take_attention(&self) {
        // An exchange: what is looked at next is not read before the request is gone.
        self.attention.swap(false, Ordering::SeqCst);
    }
}

/// The CPU that this code runs on. Cannot be sent to another, and is worthless after a switch.
#[derive(Clone, Copy)]
pub(crate) struct Here(&'static Cpu, PhantomData<*const ()>);

impl Here {
    /// Interrupts must be off.
    #[inline(always)]
    pub(crate) fn get() -> Self {
        debug_assert!(!arch::interrupts_are_on(), "per-CPU data needs interrupts off");
        // SAFETY: the area is the first field of a Cpu that lives for ever.
        Here(unsafe { &*CpuArea::current().cast::<Cpu>() }, PhantomData)
    }

    /// The CPU itself, which outlives the right to touch its cells.
    #[inline(always)]
    pub(crate) fn cpu(self) -> &'static Cpu {
        self.0
    }

    /// The running LWP. Not to be asked in the idle loop or before the first dispatch.
    #[inline(always)]
    pub(crate) fn lwp(self) -> &'static Lwp {
        let current = self.0.current.get();
        debug_assert!(current.is_some(), "no LWP runs here");
        // SAFETY: asked on the way of an LWP through the kernel only, where there is one; debug builds check.
        unsafe { current.unwrap_unchecked() }
    }
}

impl Deref for Here {
    type Target = Cpu;
    #[inline(always)]
    fn deref(&self) -> &Cpu {
        self.0
    }
}

static BOOT_CPU: Cpu = Cpu::new();
static CPUS: [AtomicPtr<Cpu>; MAX_CPUS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_CPUS];
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Makes the CPU that this runs on the first of the machine. Its account begins: it is idle until it dispatches.
pub(crate) fn start_boot_cpu() -> Here {
    BOOT_CPU.area.set_this();
    let top = |stack: &'static BootStack| stack.0.get().addr() as u64 + BOOT_STACK_BYTES as u64;
    BOOT_CPU.area.set_exception_stacks([&BOOT_STACKS[0], &BOOT_STACKS[1], &BOOT_STACKS[2]].map(top));
    arch::start_cpu(&BOOT_CPU.area);
    CPUS[0].store(core::ptr::from_ref(&BOOT_CPU).cast_mut(), Ordering::Release);
    COUNT.store(1, Ordering::Release);
    BOOT_CPU.ledger.start(arch::clock);
    crate::pset::add_cpu(0);
    Here::get()
}

/// Gives the boot CPU exception stacks with a hole below each, now that there are such, and its controller's id.
pub(crate) fn finish_boot_cpu() -> Result<(), &'static str> {
    BOOT_CPU.area.set_exception_stacks(new_exception_stacks().map_err(syscalls::Errno::text)?);
    BOOT_CPU.apic_id.store(u32::from(arch::own_apic_id()), Ordering::Relaxed);
    BOOT_CPU.online.store(true, Ordering::Relaxed);
    Ok(())
}

/// Stacks for good.
fn new_exception_stacks() -> Result<[u64; 3], syscalls::Errno> {
    Ok([KernelStack::new()?.keep(), KernelStack::new()?.keep(), KernelStack::new()?.keep()])
}

/// The exception stacks of the boot CPU until there is memory management.
#[repr(align(16))]
struct BootStack(UnsafeCell<[u8; BOOT_STACK_BYTES]>);

const BOOT_STACK_BYTES: usize = 4096;

// SAFETY: only the boot CPU's exceptions use them.
unsafe impl Sync for BootStack {}

static BOOT_STACKS: [BootStack; 3] = [const { BootStack(UnsafeCell::new([0; BOOT_STACK_BYTES])) }; 3];

/// All CPUs that are up.
pub(crate) fn all() -> impl Iterator<Item = &'static Cpu> {
    (0..count()).filter_map(get)
}

/// The number of the CPU that this runs on, told by its interrupt controller where there are several: for panics, which
/// trust nothing else.
pub(crate) fn own_number() -> u32 {
    if count() <= 1 {
        return 0;
    }
    let own = arch::own_apic_id();
    all().find(|cpu| cpu.apic_id() == own).map_or(0, Cpu::number)
}

/// Stops all other CPUs for good, wherever they are: this one panics.
pub(crate) fn stop_others() {
    if count() > 1 {
        let own = arch::own_apic_id();
        all().filter(|cpu| cpu.apic_id() != own).for_each(|cpu| arch::interrupt_at_once(cpu.apic_id()));
    }
}

/// CPU `number`, if it has come up.
#[inline]
pub(crate) fn get(number: u32) -> Option<&'static Cpu> {
    let cpu = CPUS.get(number as usize)?.load(Ordering::Acquire);
    // SAFETY: a pointer that was stored is to a Cpu that lives for ever.
    unsafe { cpu.as_ref() }
}

/// How many CPUs are up.
pub(crate) fn count() -> u32 {
    COUNT.load(Ordering::Acquire)
}

/// Lets pending interrupts in: long operations call this now and then. The caller holds no [`Here`], and no lock but an
/// address space's, which no interrupt handler takes.
pub(crate) fn window() {
    Here::get().held.assert_none("interrupt window");
    stretch::interrupt(arch::interrupt_window);
}
