/*
 * The time of an LWP: _lwp_info(2), and the calls this project adds.
 *
 * Times are counted by stamped transitions, never by sampling. Each call answers for one moment, and no figure
 * ever decreases.
 */
#ifndef TALLY_SYS_LWP_H
#define TALLY_SYS_LWP_H

#include <stdint.h>
#include <sys/processor.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TALLY_TIMESTRUC_T
#define TALLY_TIMESTRUC_T
typedef struct timespec timestruc_t;
typedef struct timespec32 {
	int32_t tv_sec;
	int32_t tv_nsec;
} timestruc32_t;
#endif

#ifndef TALLY_TID_T
#define TALLY_TID_T
typedef int tid_t;
#endif

struct lwpinfo {
	timestruc_t lwp_utime; /* in user mode */
	timestruc_t lwp_stime; /* in the kernel on the LWP's behalf */
};

struct lwpinfo32 {
	timestruc32_t lwp_utime;
	timestruc32_t lwp_stime;
};

/* Nanoseconds; the five states add up to the lifetime, but for less than one nanosecond lost in each. */
struct lwp_microstates {
	uint64_t user;     /* in user mode */
	uint64_t system;   /* in the kernel on its own behalf */
	uint64_t runnable; /* waiting for a CPU */
	uint64_t sleeping; /* blocked */
	uint64_t stopped;  /* stopped by a signal */
	uint64_t lifetime; /* since it was made */
};

/* Nanoseconds; the four states add up to the time the CPU has been up, but for less than one lost in each. */
struct cpu_times {
	uint64_t user;   /* running an LWP in user mode */
	uint64_t system; /* in the kernel on an LWP's behalf */
	uint64_t irq;    /* handling interrupts, whomever they interrupted */
	uint64_t idle;   /* nothing to run */
	uint64_t up;     /* since it came up */
};

/* Nanoseconds; live and ended LWPs together. Children are counted once they have been waited for. */
struct proc_times {
	uint64_t user;
	uint64_t system;
	uint64_t children_user;
	uint64_t children_system;
};

/* Nanoseconds, of one moment at which all CPUs stand still: lwp_user is cpu_user, lwp_system is cpu_system. */
struct machine_times {
	uint64_t lwp_user;   /* of all LWPs that ever lived */
	uint64_t lwp_system;
	uint64_t cpu_user;   /* of all CPUs */
	uint64_t cpu_system;
	uint64_t cpu_irq;
	uint64_t cpu_idle;
};

#define PROC_RUNNING 1  /* some LWP has a CPU or waits for one */
#define PROC_SLEEPING 2 /* all LWPs are blocked */
#define PROC_STOPPED 3  /* all LWPs have stopped, for a signal */
#define PROC_ENDED 4    /* it waits to be waited for */

struct proc_info {
	pid_t pid;
	pid_t parent; /* 0: it is the first process */
	pid_t group;
	pid_t session;
	uid_t uid;
	uint32_t state;
	uint32_t lwps;        /* how many it has */
	processorid_t cpu;    /* the one that one of them used last */
	uint64_t user;        /* nanoseconds, as in struct proc_times */
	uint64_t system;
	uint64_t children_user;
	uint64_t children_system;
	char name[32];        /* the first bytes of the program's name; no zero ends the longest */
};

/* The calling LWP's times. Returns 0 or the error's number itself (EFAULT); errno is not touched. */
int _lwp_info(struct lwpinfo *buffer);

/* The same in 32 bits; EOVERFLOW where a value does not fit. */
int _lwp_info32(struct lwpinfo32 *buffer);

/* Any LWP's microstates; tid -1: the caller's. 0, or -1 with errno: EINVAL (0, or below -1), ESRCH, EFAULT. */
int lwp_microstates(tid_t tid, struct lwp_microstates *states);

/* A CPU's times. 0, or -1 with errno: EINVAL (no such CPU), EFAULT. */
int cpu_times(processorid_t cpu, struct cpu_times *times);

/* A process's times; pid -1: the caller's. 0, or -1 with errno: EINVAL (0, or below -1), ESRCH, EFAULT. */
int proc_times(pid_t pid, struct proc_times *times);

/* The machine's times. 0, or -1 with errno: EPERM (the caller is not user 0), EFAULT. */
int machine_times(struct machine_times *times);

/* The process with the lowest pid above `after`, 0: the first. Its pid, or -1 with errno: EINVAL (below 0), ESRCH
 * (there is none), EFAULT. */
pid_t proc_next(pid_t after, struct proc_info *info);

#ifdef __cplusplus
}
#endif
#endif
