//! What the kernel keeps for LWPs.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use userlib::{Errno, raw};

use crate::crowd::{Call, Crowd, give_way};
use crate::measure::{Figure, Outcome};

const LWPS: u32 = 4_000;
const WAIT_PRIVATE: i32 = 128;
const WAKE_PRIVATE: i32 = 129;

/// Free memory before and after 4 000 LWPs that all sleep in `futex`. They have no stacks in user memory and touch no
/// page, so what is gone is the kernel's: kernel stacks, LWPs, tables.
pub(crate) fn of_blocked_lwp() -> Outcome {
    static SLEEPERS: Crowd = Crowd::new();
    static WORD: AtomicU32 = AtomicU32::new(0);
    let word = WORD.as_ptr().expose_provenance() as u64;
    let call = Call { number: syscalls::number::futex, arguments: [word, WAIT_PRIVATE as u64, 0] };
    let wake_all = || {
        WORD.store(1, SeqCst);
        // SAFETY: wakes; nothing is written.
        unsafe { raw::futex(word, WAKE_PRIVATE, i32::MAX as u32, 0, 0, 0) };
        give_way();
    };
    let before = free_memory()?;
    let started = SLEEPERS.start(LWPS, call);
    give_way(); // once, so that each sleeps
    let after = free_memory();
    SLEEPERS.stop(wake_all);
    started.map_err(|errno| errno.to_string())?;
    Ok(Figure::of_number((before - after?) / f64::from(LWPS), "bytes"))
}

/// In bytes.
fn free_memory() -> Result<f64, String> {
    let mut info = syscalls::linux::SysInfo::default();
    // SAFETY: the place is this function's.
    let result = unsafe { raw::sysinfo((&raw mut info).expose_provenance() as u64) };
    Errno::from_return(result).map_err(|errno| errno.to_string())?;
    Ok(info.free_memory as f64 * f64::from(info.unit))
}
