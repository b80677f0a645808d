//! What the fuzzer must not do to itself.

use syscalls::{Errno, Row, number};

use crate::ground::Ground;

const USER_END: u64 = 0x7fff_ffff_f000;
const MAP_FIXED: u64 = 0x10_0010;
const MAP_SHARED: u64 = 1;

/// Whether the program goes on as before after a call with these arguments.
pub(crate) fn is_harmless(row: &Row, arguments: &[u64; 6], ground: &Ground) -> bool {
    let [first, second, third, fourth, fifth, _] = *arguments;
    let spares = |address, length| spares_the_program(address, length, ground);
    match row.name {
        // They end the caller, or make one more of it.
        "exit" | "exit_group" | "clone" | "clone3" | "fork" | "vfork" => false,
        // The C library relies on what was set; a user id cannot be had back.
        "set_tid_address" | "setuid" => false,
        // Whoever reads from a pipe that nobody writes to waits for ever.
        "pipe" | "pipe2" => false,
        "kill" | "tkill" => second as i32 == 0 || !(-1..=1 << 18).contains(&(first as i32)),
        "tgkill" => third as i32 == 0 || !(1..=1 << 18).contains(&(second as i32)),
        "futex" => !(matches!(second as i32 & 0x7f, 0 | 9) && fourth == 0),
        "arch_prctl" => first as i32 != 0x1002 || second >= USER_END,
        "brk" => first == 0 || first >= USER_END || ground.has(first, 0),
        "munmap" | "mprotect" | "madvise" => spares(first, second),
        "mremap" => spares(first, second.max(third)) && (fourth & 2 == 0 || spares(fifth, third)),
        // Shared pages are all made at once: not too many.
        "mmap" if fourth & MAP_SHARED != 0 && second > 1 << 20 => false,
        "mmap" => fourth & MAP_FIXED == 0 || spares(first, second),
        _ => true,
    }
}

/// Whether nothing of the range is the program's: it is the ground's, or can be nobody's.
fn spares_the_program(address: u64, length: u64, ground: &Ground) -> bool {
    const LOWEST: u64 = 0x1_0000;
    let end = address.checked_add(length).and_then(|end| end.checked_add(4095));
    ground.has(address, length.saturating_add(4095))
        || end.is_none_or(|end| end < LOWEST || address >= USER_END)
}

/// Unmaps what a call has mapped outside of the ground.
pub(crate) fn clean_up(number: usize, arguments: [u64; 6], result: Result<u64, Errno>, ground: &Ground) {
    let length = match number {
        number::mmap => arguments[1],
        number::mremap => arguments[2],
        _ => return,
    };
    if let Ok(address) = result
        && !ground.has(address, length)
    {
        // SAFETY: the kernel chose the place, so it was free.
        unsafe { crate::unmap(address, length) };
    }
}

/// For calls that the fuzzer needs itself.
pub(crate) fn assert_succeeds(result: Result<u64, Errno>) {
    if let Err(errno) = result {
        panic!("the fuzzer's own call: {errno}");
    }
}
