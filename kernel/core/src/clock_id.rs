//! Clock ids: what a `clockid_t` names.

use syscalls::Errno;
use syscalls::linux::clock_id::*;

/// A clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockId {
    /// The time of day.
    Wall,
    /// Time since the machine's reset.
    Monotonic,
    /// CPU time.
    Cpu {
        /// Whose.
        whose: Whose,
        /// Which part.
        part: CpuPart,
    },
}

/// Whose CPU time a clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The calling LWP's.
    Caller,
    /// The calling process's.
    CallersProcess,
    /// That of the LWP with this tid.
    Lwp(u32),
    /// That of the process with this pid.
    Process(u32),
}

/// Which part of CPU time a clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuPart {
    /// User time.
    User,
    /// User and system time.
    Whole,
}

impl ClockId {
    /// What `id` names. Negative ids are made by `clock_getcpuclockid` and `pthread_getcpuclockid`: the complement of a
    /// pid or tid (0: the caller's) above three bits, of which 4 says tid and the others which part.
    ///
    /// # Errors
    /// EINVAL.
    pub fn decode(id: i32) -> Result<ClockId, Errno> {
        const PER_LWP: i32 = 4;
        const PROFILE: i32 = 0;
        const VIRTUAL: i32 = 1;
        const SCHEDULED: i32 = 2;
        Ok(match id {
            REALTIME | REALTIME_COARSE => ClockId::Wall,
            MONOTONIC | MONOTONIC_RAW | MONOTONIC_COARSE | BOOTTIME => ClockId::Monotonic,
            PROCESS_CPUTIME => ClockId::Cpu { whose: Whose::CallersProcess, part: CpuPart::Whole },
            THREAD_CPUTIME => ClockId::Cpu { whose: Whose::Caller, part: CpuPart::Whole },
            0.. => return Err(Errno::EINVAL),
            _ => {
                let number = (!(id >> 3)) as u32;
                let whose = match (id & PER_LWP != 0, number) {
                    (true, 0) => Whose::Caller,
                    (true, tid) => Whose::Lwp(tid),
                    (false, 0) => Whose::CallersProcess,
                    (false, pid) => Whose::Process(pid),
                };
                let part = match id & 3 {
                    VIRTUAL => CpuPart::User,
                    PROFILE | SCHEDULED => CpuPart::Whole,
                    _ => return Err(Errno::EINVAL),
                };
                ClockId::Cpu { whose, part }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_libraries_make() {
        let whole = |whose| Ok(ClockId::Cpu { whose, part: CpuPart::Whole });
        // musl: (-pid - 1) * 8 + 2 for a process, (-tid - 1) * 8 + 6 for a thread.
        assert_eq!(ClockId::decode((-7 - 1) * 8 + 2), whole(Whose::Process(7)));
        assert_eq!(ClockId::decode((-7 - 1) * 8 + 6), whole(Whose::Lwp(7)));
        assert_eq!(ClockId::decode(-8 + 2), whole(Whose::CallersProcess));
        assert_eq!(ClockId::decode(THREAD_CPUTIME), whole(Whose::Caller));
        assert_eq!(ClockId::decode(MONOTONIC), Ok(ClockId::Monotonic));
    }

    #[test]
    fn every_id_is_a_clock_or_an_error() {
        let ids = [i32::MIN, i32::MIN + 1, -1, 12, i32::MAX];
        let most = if cfg!(miri) { 700 } else { 70_000 };
        for id in (-most..most).chain(ids) {
            let _ = ClockId::decode(id);
        }
        assert_eq!(ClockId::decode(-1), Err(Errno::EINVAL));
        assert_eq!(ClockId::decode(99), Err(Errno::EINVAL));
    }
}
