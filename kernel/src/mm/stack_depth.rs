//! How much of each kernel stack was ever in use: measured where the option `check-stacks` asks for it.
//!
//! **Problem.** A stack that is too small is found by its overflow, on somebody's machine; what keeps it from happening is
//! room that nobody needed in all the tests. **Answer.** A stack is filled with a pattern when it is given out, and the
//! lowest word that is something else tells later how deep it was. A quarter must be left, or the kernel panics. LWPs'
//! stacks are looked at when they are given back, idle loops' whenever their CPU runs out of work, and that of the LWP
//! that ends the machine at that time. A function that leaves a part of its frame alone may hide words of it, never the
//! whole: the call below it writes a return address.

use core::ops::Range;
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::stacks::{self, KernelStack, STACK_SIZE};
use crate::arch;

/// What a program is unlikely to leave on a stack; not an address, nor a small number.
const PATTERN: u64 = 0x5a3c_96e1_0ff1_cead;

/// So much of a stack may be in use.
const MOST: u64 = STACK_SIZE / 4 * 3;

static IS_ON: AtomicBool = AtomicBool::new(false);
static DEEPEST: AtomicU64 = AtomicU64::new(0);

/// Begins to measure: stacks that are made from now on. Once, before the first.
pub(crate) fn start() {
    IS_ON.store(true, Relaxed);
}

/// Fills a new stack.
///
/// # Safety
/// The bytes are mapped, and nobody uses them.
#[inline]
pub(super) unsafe fn fill(stack: Range<u64>) {
    if IS_ON.load(Relaxed) {
        // SAFETY: the caller's promise.
        words(stack).for_each(|word| unsafe { word.write_volatile(PATTERN) });
    }
}

/// Looks at a stack that was filled. One that is in use is the running code's own.
#[inline]
pub(super) fn check(stack: Range<u64>) {
    if IS_ON.load(Relaxed) {
        let top = stack.end;
        // SAFETY: a stack that exists is mapped; words that its user may be writing are read as they are.
        let lowest = words(stack).find(|word| unsafe { word.read_volatile() } != PATTERN);
        let used = top - lowest.map_or(top, |word| word.addr() as u64);
        DEEPEST.fetch_max(used, SeqCst);
        assert!(used <= MOST, "{used} of {STACK_SIZE} bytes of a kernel stack were in use; {MOST} may be");
    }
}

/// Looks at the kernel stack that this runs on, where it is one of the stack area's.
pub(crate) fn check_own() {
    if let Some(stack) = own() {
        check(stack);
    }
}

#[inline(always)]
fn own() -> Option<Range<u64>> {
    let here = 0_u8;
    stacks::around((&raw const here).addr() as u64)
}

/// Writes to the log what was found.
pub(super) fn log_deepest() {
    if IS_ON.load(Relaxed) {
        log::info!("stacks: {} of {STACK_SIZE} bytes in use at most", DEEPEST.load(SeqCst));
    }
}

/// Overflows a kernel stack, for the test of what happens then.
pub(crate) fn overflow() -> ! {
    let stack = KernelStack::new().expect("boot has memory for a stack");
    // SAFETY: the stack is new; nothing on the present one is needed again.
    unsafe { arch::go_on_with_stack(stack.keep(), fall) }
}

extern "sysv64" fn fall() -> ! {
    let lowest = own().expect("this runs on a kernel stack").start;
    fall_below(lowest);
    panic!("{lowest:#x} is the end of a kernel stack, and what is below can be written")
}

/// Calls itself until its frame lies below `address`.
fn fall_below(address: u64) -> u64 {
    let here = core::hint::black_box([address; 2]);
    let is_below = ((&raw const here).addr() as u64) < address;
    if is_below { 0 } else { fall_below(address) + here[0] - here[1] }
}

fn words(stack: Range<u64>) -> impl Iterator<Item = *mut u64> {
    stack.step_by(size_of::<u64>()).map(|address| address as *mut u64)
}
