/*
 * The numbers of the system calls, made from the table in syscalls/src/table.rs: do not edit.
 * Below 0x1000 they are Linux's, from there on this project's own.
 */
#ifndef TALLY_SYSCALL_H
#define TALLY_SYSCALL_H

/* Read from a descriptor. */
#define TALLY_SYS_read 0
/* Write to a descriptor. */
#define TALLY_SYS_write 1
/* Open a file of the read-only root. */
#define TALLY_SYS_open 2
/* Close a descriptor. */
#define TALLY_SYS_close 3
/* Describe the file behind a path. */
#define TALLY_SYS_stat 4
/* Describe the file behind a descriptor. */
#define TALLY_SYS_fstat 5
/* Describe the file behind a path; the root has no symbolic links. */
#define TALLY_SYS_lstat 6
/* Wait until one of several descriptors is ready. */
#define TALLY_SYS_poll 7
/* Move the offset of an open file. */
#define TALLY_SYS_lseek 8
/* Map memory: private or shared anonymous, or a private file. */
#define TALLY_SYS_mmap 9
/* Change the permissions of mapped pages. */
#define TALLY_SYS_mprotect 10
/* Unmap pages. */
#define TALLY_SYS_munmap 11
/* Set or query the end of the data segment. */
#define TALLY_SYS_brk 12
/* Examine or change the disposition of a signal; handlers are kept but never run. */
#define TALLY_SYS_rt_sigaction 13
/* Examine or change the blocked signals; the mask is kept. */
#define TALLY_SYS_rt_sigprocmask 14
/* Control the console: window size and terminal attributes. */
#define TALLY_SYS_ioctl 16
/* Read from a descriptor into several buffers. */
#define TALLY_SYS_readv 19
/* Write several buffers to a descriptor. */
#define TALLY_SYS_writev 20
/* Make a pipe: a descriptor to read from, and one to write to. */
#define TALLY_SYS_pipe 22
/* Let another LWP run. */
#define TALLY_SYS_sched_yield 24
/* Resize or move a mapping. */
#define TALLY_SYS_mremap 25
/* Advise on the use of pages; DONTNEED drops anonymous pages. */
#define TALLY_SYS_madvise 28
/* A second descriptor for an open file. */
#define TALLY_SYS_dup 32
/* A second descriptor for an open file, in place of another. */
#define TALLY_SYS_dup2 33
/* Sleep for a time. */
#define TALLY_SYS_nanosleep 35
/* The caller's process id. */
#define TALLY_SYS_getpid 39
/* Make an LWP or a process. */
#define TALLY_SYS_clone 56
/* Make a process that is a copy of the caller's, with the calling LWP alone. */
#define TALLY_SYS_fork 57
/* Make a process in the caller's memory; the caller waits until it runs another program or ends. */
#define TALLY_SYS_vfork 58
/* Run another program of the read-only root in this process; its other LWPs end. */
#define TALLY_SYS_execve 59
/* End the calling LWP. */
#define TALLY_SYS_exit 60
/* Wait for the end of a child, and reap it. */
#define TALLY_SYS_wait4 61
/* Send a signal to a process, a group, or all processes. */
#define TALLY_SYS_kill 62
/* Name the system. */
#define TALLY_SYS_uname 63
/* Operate on a descriptor. */
#define TALLY_SYS_fcntl 72
/* The working folder, always the root. */
#define TALLY_SYS_getcwd 79
/* The time of day in microseconds. */
#define TALLY_SYS_gettimeofday 96
/* CPU time of the process, its waited-for children, or the calling LWP. */
#define TALLY_SYS_getrusage 98
/* Figures of the machine: uptime, memory, processes. */
#define TALLY_SYS_sysinfo 99
/* CPU time of the process and its children in clock ticks. */
#define TALLY_SYS_times 100
/* The caller's user id. */
#define TALLY_SYS_getuid 102
/* The caller's group id, always 0. */
#define TALLY_SYS_getgid 104
/* Become another user's process, for good: user 0 may, others may become what they are. */
#define TALLY_SYS_setuid 105
/* The caller's effective user id, the same as the real one. */
#define TALLY_SYS_geteuid 107
/* The caller's effective group id, always 0. */
#define TALLY_SYS_getegid 108
/* Move a process, the caller's or a child, to another process group. */
#define TALLY_SYS_setpgid 109
/* The parent's process id. */
#define TALLY_SYS_getppid 110
/* The caller's process group. */
#define TALLY_SYS_getpgrp 111
/* Begin a session, with a process group of its own. */
#define TALLY_SYS_setsid 112
/* The process group of a process. */
#define TALLY_SYS_getpgid 121
/* The session of a process. */
#define TALLY_SYS_getsid 124
/* Keep an alternate signal stack; no handler ever runs on it. */
#define TALLY_SYS_sigaltstack 131
/* The nice value of an LWP, of a process group's or of a user's least nice one, as 20 minus it: 1 to 40. */
#define TALLY_SYS_getpriority 140
/* Set the nice value of an LWP, of a process group's or of a user's LWPs. */
#define TALLY_SYS_setpriority 141
/* Set the caller's FS or GS base. */
#define TALLY_SYS_arch_prctl 158
/* The caller's LWP id. */
#define TALLY_SYS_gettid 186
/* Send a signal to an LWP. */
#define TALLY_SYS_tkill 200
/* Wait on, or wake waiters of, a word in memory. */
#define TALLY_SYS_futex 202
/* Set which CPUs an LWP may use; on return it runs on no other. */
#define TALLY_SYS_sched_setaffinity 203
/* Ask which CPUs an LWP may use. */
#define TALLY_SYS_sched_getaffinity 204
/* Set the word that is cleared and woken when the caller ends; returns the tid. */
#define TALLY_SYS_set_tid_address 218
/* Read a clock. */
#define TALLY_SYS_clock_gettime 228
/* The resolution of a clock. */
#define TALLY_SYS_clock_getres 229
/* Sleep by a clock, for a time or until one. */
#define TALLY_SYS_clock_nanosleep 230
/* End the process. */
#define TALLY_SYS_exit_group 231
/* Send a signal to an LWP of a process. */
#define TALLY_SYS_tgkill 234
/* Wait for the end of a child; it may be left to be waited for again. */
#define TALLY_SYS_waitid 247
/* Open a file of the read-only root. */
#define TALLY_SYS_openat 257
/* Describe a file. */
#define TALLY_SYS_newfstatat 262
/* Keep the head of the robust-futex list. */
#define TALLY_SYS_set_robust_list 273
/* As dup2, with flags. */
#define TALLY_SYS_dup3 292
/* Make a pipe, with flags. */
#define TALLY_SYS_pipe2 293
/* Examine or change the limits of the process. */
#define TALLY_SYS_prlimit64 302
/* The CPU that the caller runs on. */
#define TALLY_SYS_getcpu 309
/* Fetch random bytes. */
#define TALLY_SYS_getrandom 318
/* User and system time of the calling LWP, as two timestruc_t. */
#define TALLY_SYS_lwp_info 0x1000
/* User and system time of the calling LWP, in 32-bit seconds; EOVERFLOW where they do not fit. */
#define TALLY_SYS_lwp_info32 0x1001
/* User and system time of any LWP in nanoseconds; −1 names the caller. */
#define TALLY_SYS_thread_cputime 0x1002
/* The caller's LWP id. */
#define TALLY_SYS_thread_self 0x1003
/* All microstates of any LWP, of one moment, in nanoseconds; −1 names the caller. */
#define TALLY_SYS_lwp_microstates 0x1004
/* User, system, interrupt, idle and total time of a CPU in nanoseconds. */
#define TALLY_SYS_cpu_times 0x1005
/* User and system time of a process and of its waited-for children in nanoseconds; −1 names the caller's. */
#define TALLY_SYS_proc_times 0x1006
/* All LWPs' and all CPUs' time in nanoseconds, of one moment at which all CPUs stand still; for user 0. */
#define TALLY_SYS_machine_times 0x1007
/* Describe the process with the lowest pid above `after` (0: the first), and return that pid; ESRCH behind the last. */
#define TALLY_SYS_proc_next 0x1008
/* Make a processor set, and store its id. */
#define TALLY_SYS_pset_create 0x1010
/* Destroy a processor set: its LWPs become unbound, its CPUs go to the default set. */
#define TALLY_SYS_pset_destroy 0x1011
/* Move a CPU to a processor set, or ask which it is in. */
#define TALLY_SYS_pset_assign 0x1012
/* The type and the CPUs of a processor set. */
#define TALLY_SYS_pset_info 0x1013
/* The ids of all processor sets but the default one. */
#define TALLY_SYS_pset_list 0x1014
/* Bind LWPs to a processor set, or ask to which they are. */
#define TALLY_SYS_pset_bind 0x1015
/* Bind LWPs to a CPU, or ask to which they are. */
#define TALLY_SYS_processor_bind 0x1016
/* Load averages of a processor set over 1, 5 and 15 minutes, as doubles; returns how many. */
#define TALLY_SYS_pset_getloadavg 0x1017
/* What a CPU went through since it came up. */
#define TALLY_SYS_cpu_info 0x1018
/* Join the arena of a name, which is made first if there is none, and map its memory; returns its address. */
#define TALLY_SYS_arena_join 0x1040
/* Leave an arena; its memory is unmapped. */
#define TALLY_SYS_arena_leave 0x1041
/* Take memory of an arena; returns its address. */
#define TALLY_SYS_arena_allocate 0x1042
/* Give memory back to its arena. */
#define TALLY_SYS_arena_free 0x1043
/* Replace an arena's published word, or do so only where it is what is expected; returns whether it did. */
#define TALLY_SYS_arena_exchange 0x1044
/* Describe an arena that the caller has joined. */
#define TALLY_SYS_arena_status 0x1045
/* Describe the first arena behind `after` (0: of all), and return its address; ESRCH behind the last. */
#define TALLY_SYS_arena_next 0x1046
/* Switch, bound or empty the history of an arena's semaphores. */
#define TALLY_SYS_arena_history 0x1047
/* Fetch the records of an arena, newest first, if there is room for all; returns how many were written. */
#define TALLY_SYS_arena_records 0x1048
/* Make a semaphore in an arena; returns its address. */
#define TALLY_SYS_sema_new 0x1049
/* Make a semaphore a new one; who waits for it is told EIDRM. */
#define TALLY_SYS_sema_init 0x104a
/* Free a semaphore; who waits for it is told EIDRM. */
#define TALLY_SYS_sema_free 0x104b
/* P, as called at `pc`, for those whom user mode could not serve; returns 1 with a token, 0 without. */
#define TALLY_SYS_sema_acquire 0x104c
/* V, likewise. */
#define TALLY_SYS_sema_release 0x104d
/* The count of a semaphore, or minus the number of its waiters; plus 2^31. */
#define TALLY_SYS_sema_test 0x104e
/* Switch, read or reset what a semaphore tells about itself. */
#define TALLY_SYS_sema_control 0x104f
/* Describe the first semaphore behind the one with key `after` (0: of all), and return its key; ESRCH behind the last. */
#define TALLY_SYS_sema_next 0x1050

#endif
