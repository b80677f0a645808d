//! Where a CPU and an LWP keep what the entry code needs, and the switch between two LWPs.

use super::frame::Frame;
use super::gdt::{EXCEPTION_STACKS, Segments};
use core::cell::{Cell, UnsafeCell};

/// The architecture's part of a CPU's data; its address is the CPU's GS base.
#[repr(C)]
pub(crate) struct CpuArea {
    /// Address of the structure that this is the beginning of.
    this: Cell<usize>,
    /// Where a system call parks the user's stack pointer for some instructions.
    pub(super) user_rsp: Cell<u64>,
    /// Where entries and returns park two registers while they make a crossing of the ledger.
    pub(super) parked_rax: Cell<u64>,
    pub(super) parked_rdx: Cell<u64>,
    /// Top of the kernel stack of the LWP that runs here.
    pub(super) kernel_rsp: Cell<u64>,
    pub(super) segments: UnsafeCell<Segments>,
    /// Tops of the stacks for double faults, NMIs and machine checks.
    exception_stacks: Cell<[u64; EXCEPTION_STACKS]>,
}

impl CpuArea {
    pub(crate) const fn new() -> Self {
        CpuArea {
            this: Cell::new(0),
            user_rsp: Cell::new(0),
            parked_rax: Cell::new(0),
            parked_rdx: Cell::new(0),
            kernel_rsp: Cell::new(0),
            segments: UnsafeCell::new(Segments::new()),
            exception_stacks: Cell::new([0; EXCEPTION_STACKS]),
        }
    }

    /// Records the address by which [`CpuArea::current`] will find this CPU. Before `start_cpu`.
    pub(crate) fn set_this(&self) {
        self.this.set(core::ptr::from_ref(self).addr());
    }

    /// The structure around this CPU's area, whose GS base was loaded by `start_cpu`.
    #[inline(always)]
    pub(crate) fn current() -> *const CpuArea {
        let this: *const CpuArea;
        // SAFETY: GS points at a CpuArea from `start_cpu` on, and its first word at itself. Not `pure`: after a switch
        // the same code may run on another CPU.
        unsafe {
            core::arch::asm!("mov {}, gs:[0]", out(reg) this, options(nostack, preserves_flags, readonly))
        };
        this
    }

    /// Says which kernel stack entries from user mode use from now on. `top` is aligned to 16.
    pub(crate) fn set_kernel_stack(&self, top: u64) {
        self.kernel_rsp.set(top);
        // SAFETY: only this CPU touches its segments, and the CPU itself reads the field only on entry.
        unsafe { (*self.segments.get()).set_kernel_stack(top) };
    }

    pub(super) fn exception_stack_tops(&self) -> [u64; EXCEPTION_STACKS] {
        self.exception_stacks.get()
    }

    /// Gives the CPU stacks for the exceptions that cannot trust the one they interrupt. Before `start_cpu`, or again
    /// on the CPU itself, with better ones.
    pub(crate) fn set_exception_stacks(&self, tops: [u64; EXCEPTION_STACKS]) {
        self.exception_stacks.set(tops);
        // SAFETY: nobody else touches this CPU's segments; the CPU reads the fields only when such an exception comes.
        unsafe { (*self.segments.get()).set_exception_stacks(tops) };
    }
}

/// A context that does not run: where its stack pointer was when it was left.
#[derive(Debug, Default)]
pub(crate) struct Context {
    rsp: UnsafeCell<u64>,
}

unsafe extern "sysv64" {
    fn switch_stacks(save_rsp: *mut u64, next_rsp: u64);
    fn lwp_first_return();
    #[link_name = "go_on_with_stack"]
    fn go_on_with_stack_asm(stack_top: u64, function: extern "sysv64" fn() -> !) -> !;
    #[link_name = "return_to_frame"]
    fn return_to_frame_asm(frame: *const Frame) -> !;
}

impl Context {
    pub(crate) const fn new() -> Self {
        Context { rsp: UnsafeCell::new(0) }
    }

    /// Makes this the context of an LWP that has not run yet: it will enter user mode with `frame`, which is laid out
    /// at the top of its kernel stack.
    ///
    /// # Safety
    /// `stack_top` is the top of a kernel stack that nobody uses, and nobody runs this context.
    pub(crate) unsafe fn prepare(&self, stack_top: u64, frame: &Frame) {
        let frame_at = stack_top - size_of::<Frame>() as u64;
        // What `switch_stacks` pops: six registers and the return address.
        let switch_at = frame_at - 7 * 8;
        // SAFETY: the caller owns the stack, and both places lie inside it.
        unsafe {
            (frame_at as *mut Frame).write(*frame);
            (switch_at as *mut [u64; 7]).write([0, 0, 0, 0, 0, 0, lwp_first_return as *const () as u64]);
            *self.rsp.get() = switch_at;
        }
    }

    /// Leaves this context and goes on in `next`; returns when somebody switches back, perhaps on another CPU.
    ///
    /// # Safety
    /// Interrupts are off; this is the context that runs here; `next` runs nowhere and its stack is in nobody's use;
    /// both are held by the one lock that the caller holds and `next` will release.
    pub(crate) unsafe fn switch_to(&self, next: &Context) {
        // SAFETY: by the contract both stack pointers are this CPU's to write and read.
        unsafe { switch_stacks(self.rsp.get(), *next.rsp.get()) }
    }
}

/// Goes on with `function` on another stack, forgetting this one.
///
/// # Safety
/// Nobody uses the stack below `stack_top`, and nothing on the present one is owed a destructor or referred to.
pub(crate) unsafe fn go_on_with_stack(stack_top: u64, function: extern "sysv64" fn() -> !) -> ! {
    // SAFETY: the caller's contract is the assembly's.
    unsafe { go_on_with_stack_asm(stack_top, function) }
}

/// Returns to user mode with `frame`, forgetting what is on this kernel stack.
///
/// # Safety
/// `frame` lies at the top of the running LWP's kernel stack and holds user selectors and user addresses; the ledger
/// says user; nothing on the stack is owed a destructor.
pub(crate) unsafe fn return_to_frame(frame: *const Frame) -> ! {
    // SAFETY: the caller's contract is the assembly's.
    unsafe { return_to_frame_asm(frame) }
}
