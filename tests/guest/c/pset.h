/* For the C tests of processor sets. */
#define _GNU_SOURCE /* sched_getcpu */

#ifndef PSET_TEST_H
#define PSET_TEST_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/loadavg.h>
#include <sys/pset.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void *volatile bad = (void *)8; /* no call may follow it; no compiler knows it */
#define BAD bad
#define NO_SET 123456

/* The call fails with this error; the caller looks that nothing has changed. */
#define FAILS(call, error)                                                                                             \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		CHECK((call) == -1);                                                                                   \
		if (errno != (error))                                                                                  \
			fprintf(stderr, "%s, not %s\n", strerror(errno), strerror(error));                             \
		CHECK(errno == (error));                                                                               \
	} while (0)

/* How many CPUs there are, in whichever set. */
static inline int cpus(void)
{
	int count = 0;
	while (pset_assign(PS_QUERY, count, NULL) == 0)
		count++;
	return count;
}

/* The set that a CPU is in. */
static inline psetid_t set_of(processorid_t cpu)
{
	psetid_t set = 0;
	CHECK(pset_assign(PS_QUERY, cpu, &set) == 0);
	return set;
}

/* An LWP's binding. */
static inline psetid_t binding_of(id_t lwp)
{
	psetid_t set = 0;
	CHECK(pset_bind(PS_QUERY, P_LWPID, lwp, &set) == 0);
	return set;
}

/* The caller's. */
static inline psetid_t binding(void)
{
	return binding_of(P_MYID);
}

/* The CPU that an LWP is bound to. */
static inline processorid_t bound_cpu(id_t lwp)
{
	processorid_t cpu = 77;
	CHECK(processor_bind(P_LWPID, lwp, PBIND_QUERY, &cpu) == 0);
	return cpu;
}

/* How many sets there are. */
static inline uint_t sets(void)
{
	uint_t count = 0;
	CHECK(pset_list(NULL, &count) == 0);
	return count;
}

static inline psetid_t made(void)
{
	psetid_t set = 0;
	CHECK(pset_create(&set) == 0);
	CHECK(set > 0);
	return set;
}

/* A thread that waits until it is told to end. */
struct waiter {
	pthread_t thread;
	sem_t begun, end;
	pid_t tid;
};

static inline void *wait_for_end(void *argument)
{
	struct waiter *waiter = argument;
	waiter->tid = gettid();
	sem_post(&waiter->begun);
	sem_wait(&waiter->end);
	return NULL;
}

static inline void begin(struct waiter *waiter)
{
	CHECK(sem_init(&waiter->begun, 0, 0) == 0 && sem_init(&waiter->end, 0, 0) == 0);
	CHECK(pthread_create(&waiter->thread, NULL, wait_for_end, waiter) == 0);
	sem_wait(&waiter->begun);
}

static inline void end(struct waiter *waiter)
{
	sem_post(&waiter->end);
	CHECK(pthread_join(waiter->thread, NULL) == 0);
}

/* Runs `body` in a child of another user, and looks that it ends well. */
static inline void as_another_user(void (*body)(void))
{
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		CHECK(setuid(1000) == 0);
		body();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

#endif
