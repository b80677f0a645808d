//! Calls within which the kernel lets something fail, again and again: the first of a call's allocations, then the second,
//! until none is left. Only the checked kernel does.

use crate::call;
use std::thread;
use std::time::Duration;
use syscalls::{FAIL_NEXT, Failing, HEAP_IN_USE};
use userlib::{Errno, process};

/// Whether this kernel lets things fail. One that does not must say so.
#[must_use]
pub fn can_fail() -> bool {
    let asked = fail_next(Failing::Allocation, 0);
    assert!(matches!(asked, Ok(_) | Err(Errno::ENOSYS)), "{asked:?}");
    asked.is_ok()
}

/// Does `attempt`, within which the `number`-th `what` of this thread's calls fails. Returns what came of it, and whether
/// there were so many.
pub fn failing<T>(what: Failing, number: u64, attempt: impl FnOnce() -> T) -> (T, bool) {
    fail_next(what, number).expect("a kernel that lets things fail");
    let result = attempt();
    let left = fail_next(what, 0).expect("a kernel that lets things fail");
    (result, left == 0)
}

fn fail_next(what: Failing, number: u64) -> Result<u64, Errno> {
    // SAFETY: a failure is an answer, which this program's calls check.
    unsafe { call(FAIL_NEXT as usize, &[what as u64, number]) }
}

/// A call that can fail.
pub struct Attempt<'a> {
    /// For messages.
    pub name: &'a str,
    /// Makes it. Where it fails, nothing has happened.
    pub make: &'a dyn Fn() -> Result<u64, Errno>,
    /// Takes back what it did, by its result.
    pub undo: &'a dyn Fn(u64),
    /// How it may fail where memory is missing.
    pub without_memory: &'a [Errno],
    /// How it may fail where the program's memory cannot be looked at.
    pub without_copy: &'a [Errno],
}

impl Attempt<'_> {
    /// Asserts that the call fails as it may, whatever is missing, and then leaves nothing behind.
    pub fn leaves_nothing(&self) {
        each_failure_leaves_nothing(self.name, |before| {
            self.go_through(Failing::Allocation, self.without_memory, before)?;
            self.go_through(Failing::Copy, self.without_copy, before)
        });
    }

    /// Lets each `what` of the call fail, one a time, and asserts that it then fails with one of `errors`, or does without.
    fn go_through(&self, what: Failing, errors: &[Errno], before: &Census) -> Result<(), String> {
        for number in 1.. {
            let (result, came) = failing(what, number, self.make);
            match result {
                Ok(value) => (self.undo)(value),
                Err(errno) => {
                    assert!(came && errors.contains(&errno), "{}: {what:?} {number}: {errno:?}", self.name);
                }
            }
            before.compare().map_err(|left| format!("{what:?} {number} failed, {left}"))?;
            if !came {
                break;
            }
        }
        Ok(())
    }
}

/// Does `round` until it leaves nothing; asserts that it comes so far. What the kernel keeps for the next time it keeps
/// once; only its table of ids grows now and then, as long as they rise.
pub fn each_failure_leaves_nothing(name: &str, round: impl Fn(&Census) -> Result<(), String>) {
    const MOST_ROUNDS: usize = 5;
    let one = |_| {
        let before = settled(None);
        round(&before).and_then(|()| before.compare())
    };
    let wrong: Vec<String> = (0..MOST_ROUNDS).map(one).map_while(Result::err).collect();
    assert!(wrong.len() < MOST_ROUNDS, "{name}: something is left each time: {wrong:#?}");
}

/// What there is of everything that a call could leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    free_memory: u64,
    heap: u64,
    processes: usize,
    lwps: u32,
    descriptors: usize,
}

impl Census {
    /// Says what is different now.
    fn compare(&self) -> Result<(), String> {
        match settled(Some(*self)) {
            now if now == *self => Ok(()),
            now => Err(format!("{self:?} became {now:?}")),
        }
    }
}

/// The census, once it is as `expected`: what ended LWPs stood on is given back a little after their end is told.
fn settled(expected: Option<Census>) -> Census {
    const MOST_LOOKS: usize = 20;
    for _ in 0..MOST_LOOKS {
        let now = census();
        if Some(now) == expected {
            return now;
        }
        thread::sleep(Duration::from_millis(2));
    }
    census()
}

fn census() -> Census {
    // SAFETY: all zeros is a value of this plain structure.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's own.
    assert_eq!(unsafe { libc::sysinfo(&raw mut info) }, 0);
    // SAFETY: no arguments.
    let heap = unsafe { call(HEAP_IN_USE as usize, &[]) }.expect("a kernel that tells");
    // SAFETY: asks only.
    let is_open = |fd: &i32| unsafe { libc::fcntl(*fd, libc::F_GETFD) } >= 0;
    let (mut processes, mut lwps) = (0, 0);
    for process in process::all() {
        (processes, lwps) = (processes + 1, lwps + process.lwps);
    }
    let descriptors = (0..256).filter(is_open).count();
    Census { free_memory: info.freeram, heap, processes, lwps, descriptors }
}
