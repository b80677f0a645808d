//! Structures and constants of the Linux-numbered calls, as x86-64 Linux lays them out.

use crate::types::Crossing;

crossing! {
    /// What is known of a file (C: `struct stat`).
    struct Stat: 144 {
        /// Device.
        device: u64,
        /// Inode number.
        inode: u64,
        /// Hard links.
        links: u64,
        /// Type and permissions.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
        /// Zero.
        pad: u32,
        /// Device that the file stands for.
        rdev: u64,
        /// Bytes.
        size: i64,
        /// Preferred bytes a read.
        block_size: i64,
        /// Blocks of 512 bytes.
        blocks: i64,
        /// Times of access, modification and status change; all 0.
        times: [i64; 6],
        /// Zero.
        unused: [i64; 3],
    }
    /// One descriptor to wait for (C: `struct pollfd`).
    struct PollEntry: 8 {
        /// The descriptor; a negative one is passed over.
        fd: i32,
        /// What to wait for.
        events: u16,
        /// What is.
        returned: u16,
    }
    /// A buffer of several (C: `struct iovec`).
    struct IoVector: 16 {
        /// Where.
        address: u64,
        /// Bytes.
        length: u64,
    }
    /// Figures of the machine (C: `struct sysinfo`).
    struct SysInfo: 112 {
        /// Seconds since boot.
        uptime: i64,
        /// Load averages, in 1/65536.
        loads: [u64; 3],
        /// Memory, in units.
        total_memory: u64,
        /// Of that, free.
        free_memory: u64,
        /// Not kept.
        shared_memory: u64,
        /// Not kept.
        buffer_memory: u64,
        /// None.
        total_swap: u64,
        /// None.
        free_swap: u64,
        /// Processes.
        processes: u16,
        /// Zero.
        pad: [u16; 3],
        /// None.
        total_high: u64,
        /// None.
        free_high: u64,
        /// Bytes in a unit.
        unit: u32,
        /// Zero.
        tail: u32,
    }
    /// A limit (C: `struct rlimit64`).
    struct Limit: 16 {
        /// In force.
        current: u64,
        /// The most that may be set.
        maximum: u64,
    }
    /// The size of a terminal (C: `struct winsize`).
    struct WindowSize: 8 {
        /// Lines.
        rows: u16,
        /// Characters a line.
        columns: u16,
        /// Not known.
        width: u16,
        /// Not known.
        height: u16,
    }
    /// Terminal attributes (the kernel's `struct termios`).
    struct Termios: 36 {
        /// Input modes.
        input: u32,
        /// Output modes.
        output: u32,
        /// Control modes.
        control: u32,
        /// Local modes.
        local: u32,
        /// Line discipline.
        discipline: u8,
        /// Special characters.
        characters: [u8; 19],
    }
    /// An alternate signal stack (C: `stack_t`).
    struct SignalStack: 24 {
        /// Lowest address.
        address: u64,
        /// Flags.
        flags: u32,
        /// Zero.
        pad: u32,
        /// Bytes.
        length: u64,
    }
    /// What `waitid` tells of a child (C: `siginfo_t`, as far as `SIGCHLD` uses it).
    struct SignalInfo: 128 {
        /// `SIGCHLD`; 0: no child was found.
        signal: i32,
        /// 0.
        error: i32,
        /// 1: it ended by itself; 2: a signal ended it.
        code: i32,
        /// Zero.
        pad: i32,
        /// The child.
        pid: i32,
        /// Its user.
        uid: u32,
        /// Its status, or the signal.
        status: i32,
        /// Zero.
        pad2: i32,
        /// Its user time in clock ticks of 1/100 s.
        user: i64,
        /// Its system time.
        system: i64,
        /// Zero.
        unused: [u64; 10],
    }
    /// The disposition of a signal (the kernel's `struct sigaction`).
    struct SignalAction: 32 {
        /// Handler, or 0 for the default, 1 to ignore.
        handler: u64,
        /// Flags.
        flags: u64,
        /// Return trampoline.
        restorer: u64,
        /// Signals blocked meanwhile.
        mask: u64,
    }
}

/// C `struct utsname`: six texts of 65 bytes.
pub const UTS_FIELD: usize = 65;

/// Clock ids of `<time.h>`.
pub mod clock_id {
    /// Time of day.
    pub const REALTIME: i32 = 0;
    /// Since boot, never set.
    pub const MONOTONIC: i32 = 1;
    /// CPU time of the calling process.
    pub const PROCESS_CPUTIME: i32 = 2;
    /// CPU time of the calling LWP.
    pub const THREAD_CPUTIME: i32 = 3;
    /// As `MONOTONIC`.
    pub const MONOTONIC_RAW: i32 = 4;
    /// As `REALTIME`.
    pub const REALTIME_COARSE: i32 = 5;
    /// As `MONOTONIC`.
    pub const MONOTONIC_COARSE: i32 = 6;
    /// As `MONOTONIC`: the machine is never suspended.
    pub const BOOTTIME: i32 = 7;
}
