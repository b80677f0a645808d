//! What the kernel keeps for LWPs.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use programs::futex;
use userlib::{Errno, raw};

use crate::crowd::{Call, Crowd, give_way};
use crate::measure::{Figure, Outcome};

const LWPS: u32 = 4_000;

/// Free memory before and after 4 000 LWPs that all sleep in `futex`. They have no stacks in user memory and touch no
/// page, so what is gone is the kernel's: kernel stacks, LWPs, tables.
pub(crate) fn of_blocked_lwp() -> Outcome {
    static SLEEPERS: Crowd = Crowd::new();
    static WORD: AtomicU32 = AtomicU32::new(0);
    let arguments = [futex::address(&WORD), futex::WAIT_PRIVATE as u64, 0];
    let call = Call { number: syscalls::number::futex, arguments };
    let wake_all = || {
        WORD.store(1, SeqCst);
        futex::wake(&WORD, futex::ALL);
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
