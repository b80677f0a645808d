//! Processes that tests make, and how they end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl Ended {
    /// Takes the word that `wait` stores apart.
    #[must_use]
    pub fn from_status(status: i32) -> Self {
        match libc::WIFEXITED(status) {
            true => Ended::Exit(libc::WEXITSTATUS(status)),
            false => Ended::Signal(libc::WTERMSIG(status)),
        }
    }
}

/// A child that was not waited for.
#[derive(Debug)]
pub struct Child {
    /// Its process id.
    pub pid: i32,
}

impl Child {
    /// Forks. The child does `body`, and exits with what that returns, 101 if it panics.
    ///
    /// The child has this thread only: `body` waits for no other.
    #[must_use]
    pub fn new(body: impl FnOnce() -> i32) -> Self {
        // SAFETY: the C library keeps its own locks across a fork.
        match unsafe { libc::fork() } {
            -1 => panic!("fork: {}", io::Error::last_os_error()),
            0 => end(catch_unwind(AssertUnwindSafe(body)).unwrap_or(101)),
            pid => Child { pid },
        }
    }

    /// Waits for its end.
    #[must_use]
    pub fn wait(self) -> Ended {
        self.wait_with_usage().0
    }

    /// Waits for its end, and what it used.
    #[must_use]
    pub fn wait_with_usage(self) -> (Ended, libc::rusage) {
        let mut status = 0;
        // SAFETY: all zeros is a value of this plain structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the places are this function's own.
        let pid = unsafe { libc::wait4(self.pid, &raw mut status, 0, &raw mut usage) };
        assert_eq!(pid, self.pid, "wait4: {}", io::Error::last_os_error());
        (Ended::from_status(status), usage)
    }

    /// Sends it a signal.
    pub fn kill(&self, signal: i32) {
        // SAFETY: a signal to a process of this test's own.
        assert_eq!(unsafe { libc::kill(self.pid, signal) }, 0, "kill: {}", io::Error::last_os_error());
    }

    /// Waits until it has ended, and leaves it to be waited for.
    pub fn await_end(&self) {
        let options = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: no place is given to write to.
        let result = unsafe { libc::waitid(libc::P_PID, self.pid as u32, std::ptr::null_mut(), options) };
        assert_eq!(result, 0, "waitid: {}", io::Error::last_os_error());
    }
}

/// Ends the process at once, as after a fork.
pub fn end(status: i32) -> ! {
    // SAFETY: ends the process, which is what is wanted.
    unsafe { libc::_exit(status) }
}

/// Blocks for ever.
pub fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(std::time::Duration::from_secs(3600));
    }
}
