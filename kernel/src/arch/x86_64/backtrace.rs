//! Who called whom, from the chain of frame pointers.

use crate::mm::layout::is_kernel_address;
use core::arch::asm;

const MOST_FRAMES: usize = 32;

/// Calls `each` with the return addresses on this stack, innermost first.
pub(crate) fn backtrace(each: impl FnMut(u64)) {
    let frame_pointer: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) frame_pointer, options(nomem, nostack, preserves_flags)) };
    backtrace_from(frame_pointer, each);
}

/// The same from a frame pointer of an interrupted context. Stops at whatever does not look like a kernel stack.
pub(crate) fn backtrace_from(mut frame_pointer: u64, mut each: impl FnMut(u64)) {
    for _ in 0..MOST_FRAMES {
        if !frame_pointer.is_multiple_of(8)
            || !is_kernel_address(frame_pointer)
            || !is_kernel_address(frame_pointer + 16)
        {
            return;
        }
        // SAFETY: kernel code keeps its frame pointers on mapped stacks; a chain that left them is stopped above as
        // far as can be told, and a fault here is a nested panic, which ends the machine at once.
        let [caller, return_address] = unsafe { *(frame_pointer as *const [u64; 2]) };
        if !is_kernel_address(return_address) || caller <= frame_pointer {
            return;
        }
        each(return_address);
        frame_pointer = caller;
    }
}
