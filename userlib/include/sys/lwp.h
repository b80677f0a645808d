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

/* The calling LWP's times. Returns 0 or the error's number itself (EFAULT); errno is not touched. */
int _lwp_info(struct lwpinfo *buffer);

/* The same in 32 bits; EOVERFLOW where a value does not fit. */
int _lwp_info32(struct lwpinfo32 *buffer);

/* Any LWP's microstates; tid -1: the caller's. 0, or -1 with errno: EINVAL (0, or below -1), ESRCH, EFAULT. */
int lwp_microstates(tid_t tid, struct lwp_microstates *states);

/* A CPU's times. 0, or -1 with errno: EINVAL (no such CPU), EFAULT. */
int cpu_times(processorid_t cpu, struct cpu_times *times);

#ifdef __cplusplus
}
#endif
#endif
