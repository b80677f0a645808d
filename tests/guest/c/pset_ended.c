/* Processor sets: an LWP whose end was told counts in no set and on no CPU any more, so that these are free to go at once.
 * The end is told by the word that the kernel clears (CLONE_CHILD_CLEARTID), or by wait(2). Needs two CPUs. */
#include <sys/syscall.h>

#include "pset.h"

#define ROUNDS 500

static psetid_t set; /* has the second CPU */
static volatile int lives, failed;
static char stack[16384] __attribute__((aligned(64)));

/* The caller stays on the first CPU, the new LWP may go anywhere. */
static void make_lwp(int (*body)(void *))
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;

	lives = 1;
	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL) == 0);
	CHECK(clone(body, stack + sizeof stack, flags, NULL, NULL, NULL, &lives) > 0);
	CHECK(processor_bind(P_LWPID, P_MYID, 0, NULL) == 0);
}

/* The new LWPs do nothing that a C library keeps in a thread's own memory: they have none. */
static int end_in_set(void *unused)
{
	failed |= pset_bind(set, P_LWPID, P_MYID, NULL);
	syscall(SYS_exit, 0);
	return unused != NULL;
}

static int end_on_cpu(void *unused)
{
	failed |= processor_bind(P_LWPID, P_MYID, 1, NULL);
	syscall(SYS_exit, 0);
	return unused != NULL;
}

static void await_end(void)
{
	while (lives)
		;
	CHECK(!failed);
}

static void last_of_a_set(void)
{
	make_lwp(end_in_set);
	await_end();
	CHECK(pset_assign(PS_NONE, 1, NULL) == 0);
	CHECK(pset_assign(set, 1, NULL) == 0);
}

static void last_on_a_cpu(void)
{
	CHECK(pset_assign(PS_NONE, 1, NULL) == 0);
	make_lwp(end_on_cpu);
	await_end();
	CHECK(pset_assign(set, 1, NULL) == 0);
}

static void last_process_of_a_set(void)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		CHECK(processor_bind(P_PID, P_MYID, PBIND_NONE, NULL) == 0);
		CHECK(pset_bind(set, P_PID, P_MYID, NULL) == 0);
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(pset_assign(PS_NONE, 1, NULL) == 0);
	CHECK(pset_assign(set, 1, NULL) == 0);
}

int main(void)
{
	if (cpus() < 2)
		return 0;
	set = made();
	CHECK(pset_assign(set, 1, NULL) == 0 && processor_bind(P_LWPID, P_MYID, 0, NULL) == 0);
	for (int round = 0; round < ROUNDS; round++) {
		last_of_a_set();
		last_on_a_cpu();
		last_process_of_a_set();
	}
	CHECK(pset_destroy(set) == 0);
	return 0;
}
