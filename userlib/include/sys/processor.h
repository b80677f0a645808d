/* Processors: which there are, what they go through, and LWPs that are bound to one: processor_bind(2). */
#ifndef TALLY_SYS_PROCESSOR_H
#define TALLY_SYS_PROCESSOR_H

#include <stdint.h>
#include <sys/procset.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of a CPU, from 0. */
typedef int processorid_t;

/* In place of a CPU's number. */
#define PBIND_NONE -1  /* bound to none */
#define PBIND_QUERY -2 /* change nothing */

#define CPU_ONLINE 1 /* the only state there is */

/* What a CPU went through since it came up. */
struct cpu_info {
	uint64_t since;          /* when it came up, in nanoseconds since 1970 */
	int pset;                /* its processor set; PS_NONE: the default one */
	int state;               /* CPU_ONLINE */
	uint64_t minor_faults;   /* page faults */
	uint64_t cross_calls;    /* interrupts that it sent to other CPUs */
	uint64_t interrupts;     /* interrupts that it took */
	uint64_t switches;       /* away from an LWP */
	uint64_t involuntary;    /* those that the LWP was made to */
	uint64_t migrations;     /* LWPs that went to another CPU, or came from one */
	uint64_t spins;          /* turns of waiting for a lock */
	uint64_t system_calls;
	uint64_t user;           /* nanoseconds, as in struct cpu_times */
	uint64_t system;
	uint64_t irq;
	uint64_t idle;
};

/*
 * Binds LWPs to a CPU of their processor set; PBIND_NONE frees them, PBIND_QUERY changes nothing. `old`, unless it is
 * NULL, gets the CPU that the LWP of the lowest id was bound to, or PBIND_NONE.
 * 0, or -1 with errno: EINVAL (no such CPU or kind, or a CPU outside the set), ESRCH, EPERM, EFAULT.
 */
int processor_bind(idtype_t kind, id_t id, processorid_t cpu, processorid_t *old);

/* 0, or -1 with errno: EINVAL (no such CPU), EFAULT. */
int cpu_info(processorid_t cpu, struct cpu_info *info);

#ifdef __cplusplus
}
#endif
#endif
