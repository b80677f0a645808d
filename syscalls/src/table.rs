/// Calls `$apply!` once with every row of the system-call table.
///
/// A row is `/// summary`, number, `name(argument: kind, …);`. The kinds say how a register is read:
///
/// | kind | register as | meaning |
/// |---|---|---|
/// | `Address` | `u64` | an address in the caller's space, checked where it is used |
/// | `Int` | low 32 bits, signed | a C `int`, a descriptor, a pid or tid |
/// | `Unsigned` | low 32 bits | a C `unsigned int`, flags |
/// | `Size` | `u64` | a length or count |
/// | `Long` | `i64` | a C `long`, an offset |
#[macro_export]
macro_rules! for_each_syscall {
    ($apply:path) => { $apply! {
        #[doc = "Read from a descriptor."]
        0 read(fd: Int, buffer: Address, length: Size);
        #[doc = "Write to a descriptor."]
        1 write(fd: Int, buffer: Address, length: Size);
        #[doc = "Open a file of the read-only root."]
        2 open(path: Address, flags: Int, mode: Unsigned);
        #[doc = "Close a descriptor."]
        3 close(fd: Int);
        #[doc = "Describe the file behind a path."]
        4 stat(path: Address, status: Address);
        #[doc = "Describe the file behind a descriptor."]
        5 fstat(fd: Int, status: Address);
        #[doc = "Describe the file behind a path; the root has no symbolic links."]
        6 lstat(path: Address, status: Address);
        #[doc = "Wait until one of several descriptors is ready."]
        7 poll(entries: Address, count: Size, timeout_ms: Int);
        #[doc = "Move the offset of an open file."]
        8 lseek(fd: Int, offset: Long, whence: Int);
        #[doc = "Map memory: private or shared anonymous, or a private file."]
        9 mmap(address: Address, length: Size, protection: Int, flags: Int, fd: Int, offset: Size);
        #[doc = "Change the permissions of mapped pages."]
        10 mprotect(address: Address, length: Size, protection: Int);
        #[doc = "Unmap pages."]
        11 munmap(address: Address, length: Size);
        #[doc = "Set or query the end of the data segment."]
        12 brk(address: Address);
        #[doc = "Examine or change the disposition of a signal; handlers are kept but never run."]
        13 rt_sigaction(signal: Int, new: Address, old: Address, set_size: Size);
        #[doc = "Examine or change the blocked signals; the mask is kept."]
        14 rt_sigprocmask(how: Int, new: Address, old: Address, set_size: Size);
        #[doc = "Control the console: window size and terminal attributes."]
        16 ioctl(fd: Int, request: Unsigned, argument: Address);
        #[doc = "Read from a descriptor into several buffers."]
        19 readv(fd: Int, vectors: Address, count: Size);
        #[doc = "Write several buffers to a descriptor."]
        20 writev(fd: Int, vectors: Address, count: Size);
        #[doc = "Make a pipe: a descriptor to read from, and one to write to."]
        22 pipe(ends: Address);
        #[doc = "Let another LWP run."]
        24 sched_yield();
        #[doc = "Resize or move a mapping."]
        25 mremap(old_address: Address, old_length: Size, new_length: Size, flags: Int, new_address: Address);
        #[doc = "Advise on the use of pages; DONTNEED drops anonymous pages."]
        28 madvise(address: Address, length: Size, advice: Int);
        #[doc = "A second descriptor for an open file."]
        32 dup(fd: Int);
        #[doc = "A second descriptor for an open file, in place of another."]
        33 dup2(from: Int, to: Int);
        #[doc = "Sleep for a time."]
        35 nanosleep(request: Address, remaining: Address);
        #[doc = "The caller's process id."]
        39 getpid();
        #[doc = "Make an LWP or a process."]
        56 clone(flags: Size, stack: Address, parent_tid: Address, child_tid: Address, tls: Address);
        #[doc = "Make a process that is a copy of the caller's, with the calling LWP alone."]
        57 fork();
        #[doc = "Make a process in the caller's memory; the caller waits until it runs another program or ends."]
        58 vfork();
        #[doc = "Run another program of the read-only root in this process; its other LWPs end."]
        59 execve(path: Address, arguments: Address, environment: Address);
        #[doc = "End the calling LWP."]
        60 exit(status: Int);
        #[doc = "Wait for the end of a child, and reap it."]
        61 wait4(pid: Int, status: Address, options: Int, usage: Address);
        #[doc = "Send a signal to a process, a group, or all processes."]
        62 kill(pid: Int, signal: Int);
        #[doc = "Name the system."]
        63 uname(name: Address);
        #[doc = "Operate on a descriptor."]
        72 fcntl(fd: Int, command: Int, argument: Size);
        #[doc = "The working folder, always the root."]
        79 getcwd(buffer: Address, length: Size);
        #[doc = "The time of day in microseconds."]
        96 gettimeofday(time: Address, zone: Address);
        #[doc = "CPU time of the process, its waited-for children, or the calling LWP."]
        98 getrusage(who: Int, usage: Address);
        #[doc = "Figures of the machine: uptime, memory, processes."]
        99 sysinfo(info: Address);
        #[doc = "CPU time of the process and its children in clock ticks."]
        100 times(buffer: Address);
        #[doc = "The caller's user id."]
        102 getuid();
        #[doc = "The caller's group id, always 0."]
        104 getgid();
        #[doc = "Become another user's process, for good: user 0 may, others may become what they are."]
        105 setuid(uid: Unsigned);
        #[doc = "The caller's effective user id, the same as the real one."]
        107 geteuid();
        #[doc = "The caller's effective group id, always 0."]
        108 getegid();
        #[doc = "Move a process, the caller's or a child, to another process group."]
        109 setpgid(pid: Int, group: Int);
        #[doc = "The parent's process id."]
        110 getppid();
        #[doc = "The caller's process group."]
        111 getpgrp();
        #[doc = "Begin a session, with a process group of its own."]
        112 setsid();
        #[doc = "The process group of a process."]
        121 getpgid(pid: Int);
        #[doc = "The session of a process."]
        124 getsid(pid: Int);
        #[doc = "Keep an alternate signal stack; no handler ever runs on it."]
        131 sigaltstack(new: Address, old: Address);
        #[doc = "The nice value of an LWP, of a process group's or of a user's least nice one, as 20 minus it: 1 to 40."]
        140 getpriority(which: Int, who: Int);
        #[doc = "Set the nice value of an LWP, of a process group's or of a user's LWPs."]
        141 setpriority(which: Int, who: Int, nice: Int);
        #[doc = "Set the caller's FS or GS base."]
        158 arch_prctl(code: Int, address: Address);
        #[doc = "The caller's LWP id."]
        186 gettid();
        #[doc = "Send a signal to an LWP."]
        200 tkill(tid: Int, signal: Int);
        #[doc = "Wait on, or wake waiters of, a word in memory."]
        202 futex(word: Address, operation: Int, value: Unsigned, timeout: Address, word2: Address, value3: Unsigned);
        #[doc = "Set which CPUs an LWP may use; on return it runs on no other."]
        203 sched_setaffinity(tid: Int, length: Size, mask: Address);
        #[doc = "Ask which CPUs an LWP may use."]
        204 sched_getaffinity(tid: Int, length: Size, mask: Address);
        #[doc = "Set the word that is cleared and woken when the caller ends; returns the tid."]
        218 set_tid_address(word: Address);
        #[doc = "Read a clock."]
        228 clock_gettime(clock: Int, time: Address);
        #[doc = "The resolution of a clock."]
        229 clock_getres(clock: Int, resolution: Address);
        #[doc = "Sleep by a clock, for a time or until one."]
        230 clock_nanosleep(clock: Int, flags: Int, request: Address, remaining: Address);
        #[doc = "End the process."]
        231 exit_group(status: Int);
        #[doc = "Send a signal to an LWP of a process."]
        234 tgkill(pid: Int, tid: Int, signal: Int);
        #[doc = "Wait for the end of a child; it may be left to be waited for again."]
        247 waitid(kind: Int, id: Int, info: Address, options: Int, usage: Address);
        #[doc = "Open a file of the read-only root."]
        257 openat(folder: Int, path: Address, flags: Int, mode: Unsigned);
        #[doc = "Describe a file."]
        262 newfstatat(folder: Int, path: Address, status: Address, flags: Int);
        #[doc = "Keep the head of the robust-futex list."]
        273 set_robust_list(head: Address, length: Size);
        #[doc = "As dup2, with flags."]
        292 dup3(from: Int, to: Int, flags: Int);
        #[doc = "Make a pipe, with flags."]
        293 pipe2(ends: Address, flags: Int);
        #[doc = "Examine or change the limits of the process."]
        302 prlimit64(pid: Int, resource: Int, new: Address, old: Address);
        #[doc = "The CPU that the caller runs on."]
        309 getcpu(cpu: Address, node: Address, unused: Address);
        #[doc = "Fetch random bytes."]
        318 getrandom(buffer: Address, length: Size, flags: Unsigned);

        #[doc = "User and system time of the calling LWP, as two timestruc_t."]
        0x1000 lwp_info(info: Address);
        #[doc = "User and system time of the calling LWP, in 32-bit seconds; EOVERFLOW where they do not fit."]
        0x1001 lwp_info32(info: Address);
        #[doc = "User and system time of any LWP in nanoseconds; −1 names the caller."]
        0x1002 thread_cputime(tid: Int, time: Address);
        #[doc = "The caller's LWP id."]
        0x1003 thread_self();
        #[doc = "All microstates of any LWP, of one moment, in nanoseconds; −1 names the caller."]
        0x1004 lwp_microstates(tid: Int, states: Address);
        #[doc = "User, system, interrupt, idle and total time of a CPU in nanoseconds."]
        0x1005 cpu_times(cpu: Int, times: Address);
        #[doc = "User and system time of a process and of its waited-for children in nanoseconds; −1 names the caller's."]
        0x1006 proc_times(pid: Int, times: Address);
        #[doc = "All LWPs' and all CPUs' time in nanoseconds, of one moment at which all CPUs stand still; for user 0."]
        0x1007 machine_times(times: Address);
        #[doc = "Describe the process with the lowest pid above `after` (0: the first), and return that pid; ESRCH behind the last."]
        0x1008 proc_next(after: Int, info: Address);

        #[doc = "Make a processor set, and store its id."]
        0x1010 pset_create(new: Address);
        #[doc = "Destroy a processor set: its LWPs become unbound, its CPUs go to the default set."]
        0x1011 pset_destroy(pset: Int);
        #[doc = "Move a CPU to a processor set, or ask which it is in."]
        0x1012 pset_assign(pset: Int, cpu: Int, old: Address);
        #[doc = "The type and the CPUs of a processor set."]
        0x1013 pset_info(pset: Int, kind: Address, count: Address, cpus: Address);
        #[doc = "The ids of all processor sets but the default one."]
        0x1014 pset_list(list: Address, count: Address);
        #[doc = "Bind LWPs to a processor set, or ask to which they are."]
        0x1015 pset_bind(pset: Int, kind: Int, id: Int, old: Address);
        #[doc = "Bind LWPs to a CPU, or ask to which they are."]
        0x1016 processor_bind(kind: Int, id: Int, cpu: Int, old: Address);
        #[doc = "Load averages of a processor set over 1, 5 and 15 minutes, as doubles; returns how many."]
        0x1017 pset_getloadavg(pset: Int, averages: Address, count: Int);
        #[doc = "What a CPU went through since it came up."]
        0x1018 cpu_info(cpu: Int, info: Address);

        #[doc = "Join the arena of a name, which is made first if there is none, and map its memory; returns its address."]
        0x1040 arena_join(name: Address, size: Size, users: Int, kind: Int);
        #[doc = "Leave an arena; its memory is unmapped."]
        0x1041 arena_leave(arena: Address);
        #[doc = "Take memory of an arena; returns its address."]
        0x1042 arena_allocate(arena: Address, length: Size);
        #[doc = "Give memory back to its arena."]
        0x1043 arena_free(arena: Address, block: Address);
        #[doc = "Replace an arena's published word, or do so only where it is what is expected; returns whether it did."]
        0x1044 arena_exchange(arena: Address, how: Int, expected: Size, new: Size);
        #[doc = "Describe an arena that the caller has joined."]
        0x1045 arena_status(arena: Address, status: Address);
        #[doc = "Describe the first arena behind `after` (0: of all), and return its address; ESRCH behind the last."]
        0x1046 arena_next(after: Address, status: Address);
        #[doc = "Switch, bound or empty the history of an arena's semaphores."]
        0x1047 arena_history(arena: Address, command: Int, value: Long);
        #[doc = "Fetch the records of an arena, newest first, if there is room for all; returns how many were written."]
        0x1048 arena_records(arena: Address, buffer: Address, capacity: Size, records: Address);
        #[doc = "Make a semaphore in an arena; returns its address."]
        0x1049 sema_new(arena: Address, value: Int);
        #[doc = "Make a semaphore a new one; who waits for it is told EIDRM."]
        0x104a sema_init(semaphore: Address, value: Int);
        #[doc = "Free a semaphore; who waits for it is told EIDRM."]
        0x104b sema_free(semaphore: Address, arena: Address);
        #[doc = "P, as called at `pc`, for those whom user mode could not serve; returns 1 with a token, 0 without."]
        0x104c sema_acquire(semaphore: Address, pc: Address, how: Int, time: Address);
        #[doc = "V, likewise."]
        0x104d sema_release(semaphore: Address, pc: Address);
        #[doc = "The count of a semaphore, or minus the number of its waiters; plus 2^31."]
        0x104e sema_test(semaphore: Address);
        #[doc = "Switch, read or reset what a semaphore tells about itself."]
        0x104f sema_control(semaphore: Address, command: Int, argument: Address);
        #[doc = "Describe the first semaphore behind the one with key `after` (0: of all), and return its key; ESRCH behind the last."]
        0x1050 sema_next(after: Size, status: Address);
    } };
}
