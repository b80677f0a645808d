//! The types that cross the boundary, as C lays them out. Every size and offset is asserted below the type.

/// Writes a `repr(C)` struct whose fields lie back to back, and asserts that nothing lies between them: the bytes
/// that reach a user are exactly the fields.
macro_rules! crossing {
    ($($(#[$meta:meta])* struct $name:ident: $size:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            #[repr(C)]
            pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
            const _: () = {
                assert!(size_of::<$name>() == $size, stringify!($name));
                assert!(0 $(+ size_of::<$type>())* == $size, "padding in a type that is copied to users");
            };
            impl Crossing for $name {}
        )*
    };
}

/// A plain type without padding, safe to copy to and from a user as bytes.
pub trait Crossing: Copy + Default {}
impl Crossing for i32 {}
impl Crossing for u32 {}
impl Crossing for u64 {}

crossing! {
    /// Seconds and nanoseconds (C: `struct timespec`, `timestruc_t`). `nanoseconds` is 0…999 999 999.
    struct TimeSpec: 16 {
        /// Whole seconds.
        seconds: i64,
        /// The rest.
        nanoseconds: i64,
    }
    /// Seconds and microseconds (C: `struct timeval`).
    struct TimeVal: 16 {
        /// Whole seconds.
        seconds: i64,
        /// The rest.
        microseconds: i64,
    }
    /// 32-bit seconds and nanoseconds (C: `timestruc32_t`).
    struct TimeSpec32: 8 {
        /// Whole seconds.
        seconds: i32,
        /// The rest.
        nanoseconds: i32,
    }
    /// What `_lwp_info` fills (C: `struct lwpinfo`).
    struct LwpInfo: 32 {
        /// Time in user mode.
        user: TimeSpec,
        /// Time in the kernel on the LWP's behalf.
        system: TimeSpec,
    }
    /// What `_lwp_info32` fills (C: `struct lwpinfo32`).
    struct LwpInfo32: 16 {
        /// Time in user mode.
        user: TimeSpec32,
        /// Time in the kernel on the LWP's behalf.
        system: TimeSpec32,
    }
    /// What `thread_cputime` fills, in nanoseconds (C: `thread_cputime_t`).
    struct ThreadCputime: 16 {
        /// Time in user mode.
        user: u64,
        /// Time in the kernel on the LWP's behalf.
        system: u64,
    }
    /// Every state an LWP spends its life in, in nanoseconds, of one moment (C: `struct lwp_microstates`).
    struct LwpMicrostates: 48 {
        /// In user mode.
        user: u64,
        /// In the kernel on its own behalf.
        system: u64,
        /// Waiting for a CPU.
        runnable: u64,
        /// Blocked.
        sleeping: u64,
        /// Stopped.
        stopped: u64,
        /// Since it was made.
        lifetime: u64,
    }
    /// Every state a CPU is in, in nanoseconds, of one moment (C: `struct cpu_times`).
    struct CpuTimes: 40 {
        /// Running an LWP in user mode.
        user: u64,
        /// In the kernel on an LWP's behalf.
        system: u64,
        /// Handling interrupts, whomever they interrupted.
        irq: u64,
        /// Nothing to run.
        idle: u64,
        /// Since the CPU came up.
        up: u64,
    }
    /// What a process and its children used, in nanoseconds (C: `struct proc_times`).
    struct ProcTimes: 32 {
        /// User time of all its LWPs, the ended ones included.
        user: u64,
        /// System time of all its LWPs.
        system: u64,
        /// User time of children that were waited for, and of theirs.
        children_user: u64,
        /// System time of those.
        children_system: u64,
    }
    /// What all LWPs that ever lived used, and what became of all CPUs' time, in nanoseconds, of one moment (C: `struct
    /// machine_times`).
    struct MachineTimes: 48 {
        /// User time of the LWPs.
        lwp_user: u64,
        /// System time of the LWPs.
        lwp_system: u64,
        /// User time of the CPUs: the same.
        cpu_user: u64,
        /// System time of the CPUs: the same.
        cpu_system: u64,
        /// Time that the CPUs spent on interrupts.
        cpu_irq: u64,
        /// Time in which the CPUs had nothing to run.
        cpu_idle: u64,
    }
    /// Load averages over 1, 5 and 15 minutes (C: `double [3]`): the doubles, bit by bit.
    struct LoadAverages: 24 {
        /// Over one minute.
        one: u64,
        /// Over five minutes.
        five: u64,
        /// Over fifteen minutes.
        fifteen: u64,
    }
    /// What a CPU went through since it came up (C: `struct cpu_info`).
    struct CpuInfo: 112 {
        /// When it came up, in nanoseconds since 1970.
        since: u64,
        /// Its processor set; −1: the default one.
        pset: i32,
        /// 1: it is on-line. There is no other state.
        state: i32,
        /// Page faults.
        minor_faults: u64,
        /// Interrupts that it sent to other CPUs.
        cross_calls: u64,
        /// Interrupts that it took.
        interrupts: u64,
        /// Switches away from an LWP.
        switches: u64,
        /// Those that the LWP was made to.
        involuntary_switches: u64,
        /// LWPs that it sent to another CPU, or took from one.
        migrations: u64,
        /// Turns of waiting for a lock.
        spins: u64,
        /// System calls.
        system_calls: u64,
        /// Nanoseconds in user mode.
        user: u64,
        /// Nanoseconds in the kernel on an LWP's behalf.
        system: u64,
        /// Nanoseconds in interrupts.
        irq: u64,
        /// Nanoseconds with nothing to run.
        idle: u64,
    }
    /// What there is to know of a process (C: `struct proc_info`).
    struct ProcInfo: 96 {
        /// The process id.
        pid: i32,
        /// The parent's; 0: it is the first.
        parent: i32,
        /// The process group.
        group: i32,
        /// The session.
        session: i32,
        /// The user.
        uid: u32,
        /// One of [`proc_state`](crate::proc_state).
        state: u32,
        /// How many LWPs it has.
        lwps: u32,
        /// The CPU that one of them used last.
        cpu: u32,
        /// User time of all its LWPs, the ended ones included, in nanoseconds.
        user: u64,
        /// System time of all its LWPs.
        system: u64,
        /// User time of children that were waited for, and of theirs.
        children_user: u64,
        /// System time of those.
        children_system: u64,
        /// The first bytes of the program's name, then zeroes.
        name: [u8; PROC_NAME],
    }
    /// CPU time in clock ticks of 1/100 s (C: `struct tms`).
    struct Tms: 32 {
        /// The process's user time.
        user: i64,
        /// The process's system time.
        system: i64,
        /// User time of children that were waited for.
        children_user: i64,
        /// System time of children that were waited for.
        children_system: i64,
    }
    /// Resource usage (C: `struct rusage`). Only the times and the counts of faults and switches are kept.
    struct RUsage: 144 {
        /// User time.
        user: TimeVal,
        /// System time.
        system: TimeVal,
        /// Largest resident set, KiB.
        max_resident: i64,
        /// Not kept.
        shared_text: i64,
        /// Not kept.
        unshared_data: i64,
        /// Not kept.
        unshared_stack: i64,
        /// Page faults.
        minor_faults: i64,
        /// None: there is no disk.
        major_faults: i64,
        /// Not kept.
        swaps: i64,
        /// Not kept.
        blocks_in: i64,
        /// Not kept.
        blocks_out: i64,
        /// Not kept.
        messages_sent: i64,
        /// Not kept.
        messages_received: i64,
        /// Not kept.
        signals: i64,
        /// Switches because the LWP gave way.
        voluntary_switches: i64,
        /// Switches because it was made to.
        involuntary_switches: i64,
    }
}

/// Bytes in the name of a [`ProcInfo`].
pub const PROC_NAME: usize = 32;

/// What a process is doing: values of [`ProcInfo`]'s `state`.
pub mod proc_state {
    /// Some LWP has a CPU or waits for one.
    pub const RUNNING: u32 = 1;
    /// All LWPs are blocked.
    pub const SLEEPING: u32 = 2;
    /// All LWPs have stopped, for a signal.
    pub const STOPPED: u32 = 3;
    /// It has ended, and its parent has not waited for it.
    pub const ENDED: u32 = 4;
}
