//! What storms leave behind: memory, processes, LWPs, and time that is in no account.

use std::thread;
use std::time::Duration;
use userlib::process::{self, machine_times};

/// What of the machine is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// Pages of memory.
    pub pages: u64,
    /// Processes, those that wait to be waited for included.
    pub processes: usize,
    /// LWPs of all processes.
    pub lwps: u32,
}

/// What is used now.
#[must_use]
pub fn used() -> Used {
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's own.
    assert_eq!(unsafe { libc::sysinfo(&raw mut info) }, 0);
    let (mut processes, mut lwps) = (0, 0);
    for process in process::all() {
        (processes, lwps) = (processes + 1, lwps + process.lwps);
    }
    Used { pages: (info.totalram - info.freeram) * u64::from(info.mem_unit) / crate::PAGE, processes, lwps }
}

/// Waits until what ended LWPs stood on is given back: the last one's is, a little after its end was told.
#[must_use]
pub fn settled() -> Used {
    thread::sleep(Duration::from_millis(20));
    used()
}

/// The same, with more patience while other LWPs are there than `before`: a thread counts as joined a little before its
/// LWP has ended, and a busy host makes that a while.
fn settled_as(before: &Used) -> Used {
    const MOST_LOOKS: usize = 50;
    let mut now = settled();
    for _ in 0..MOST_LOOKS {
        if (now.processes, now.lwps) == (before.processes, before.lwps) {
            break;
        }
        now = settled();
    }
    now
}

/// Does `round` until it uses no more of the machine than the time before, but at most a few times; asserts that it comes
/// so far, and that the sums of CPU time then match (law 3).
pub fn leaves_nothing(what: &str, mut round: impl FnMut()) {
    const MOST_ROUNDS: usize = 6;
    let mut before = settled();
    for _ in 0..MOST_ROUNDS {
        round();
        let after = settled_as(&before);
        if after.pages <= before.pages && (after.processes, after.lwps) == (before.processes, before.lwps) {
            let now = machine_times().expect("machine_times");
            assert_eq!(now.lwps, now.cpus, "law 3 after {what}");
            return;
        }
        before = after;
    }
    panic!("{what}: each time it uses more: {before:?} the last time");
}
