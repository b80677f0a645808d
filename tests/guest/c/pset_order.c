/* Processor sets: of two things that are wrong with a call, the one that is looked for first is told. (One thing at a time:
 * pset_errors.c.) */
#include "pset.h"

static psetid_t set, empty; /* the first has the second CPU, if there is one */
static struct waiter waiter; /* bound to CPU 0 while others' rights are looked at */

/* No such CPU, and no such kind, come before no such LWP; that before a bad place. */
static void no_such_cpu_or_lwp(void)
{
	processorid_t no_cpu[] = {cpus(), 64, 1000, 2147483647, -3, -2147483647 - 1};
	id_t nobody[] = {0, -2, -2147483647 - 1, 99999, 2147483647};

	for (size_t which = 0; which < sizeof no_cpu / sizeof *no_cpu; which++) {
		for (size_t who = 0; who < sizeof nobody / sizeof *nobody; who++) {
			FAILS(processor_bind(P_LWPID, nobody[who], no_cpu[which], BAD), EINVAL);
			FAILS(processor_bind(P_PID, nobody[who], no_cpu[which], NULL), EINVAL);
		}
		FAILS(processor_bind((idtype_t)99, P_MYID, no_cpu[which], BAD), EINVAL);
	}
	FAILS(processor_bind((idtype_t)99, 99999, 0, BAD), EINVAL);
	FAILS(processor_bind(P_PID, 0, 0, BAD), ESRCH);
	FAILS(processor_bind(P_LWPID, -2, PBIND_NONE, BAD), ESRCH);
	FAILS(processor_bind(P_LWPID, -2147483647 - 1, PBIND_QUERY, BAD), ESRCH);
}

/* No such set comes before no such LWP or kind; those before a bad place; that before a set without CPUs. */
static void no_such_set(void)
{
	id_t nobody[] = {0, -2, -2147483647 - 1, 99999, 2147483647};

	for (size_t which = 0; which < sizeof nobody / sizeof *nobody; which++) {
		FAILS(pset_bind(NO_SET, P_PID, nobody[which], BAD), EINVAL);
		FAILS(pset_bind(0, P_LWPID, nobody[which], BAD), EINVAL);
		FAILS(pset_bind(empty, P_LWPID, nobody[which], BAD), ESRCH);
		FAILS(pset_bind(PS_QUERY, P_PID, nobody[which], BAD), ESRCH);
	}
	FAILS(pset_bind(empty, P_ALL, 0, BAD), EINVAL);
	FAILS(pset_bind(empty, P_LWPID, P_MYID, BAD), EFAULT);
}

/* A bad place comes before what stands in the way: a CPU outside the set, and a set that the CPU is outside of. */
static void place_before_what_stands_in_the_way(void)
{
	CHECK(pset_bind(set, P_LWPID, P_MYID, NULL) == 0);
	FAILS(processor_bind(P_LWPID, P_MYID, 0, BAD), EFAULT);
	FAILS(processor_bind(P_LWPID, P_MYID, 0, NULL), EINVAL);
	CHECK(processor_bind(P_LWPID, P_MYID, 1, NULL) == 0);
	FAILS(pset_bind(PS_NONE, P_LWPID, P_MYID, BAD), EFAULT);
	FAILS(pset_bind(PS_NONE, P_LWPID, P_MYID, NULL), EBUSY);
	FAILS(pset_bind(empty, P_LWPID, P_MYID, NULL), EINVAL); /* no CPU at all comes before this one */
	FAILS(pset_assign(PS_NONE, 1, BAD), EFAULT);
	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL) == 0);
	CHECK(pset_bind(PS_NONE, P_LWPID, P_MYID, NULL) == 0);
}

/* Whose LWP it is comes before everything that could be wrong with what is done to it. */
static void of_another_user(void)
{
	pid_t parent = getppid();
	cpu_set_t first;

	FAILS(pset_bind(empty, P_PID, parent, NULL), EPERM);
	FAILS(pset_bind(empty, P_LWPID, waiter.tid, BAD), EPERM);
	FAILS(pset_bind(set, P_LWPID, waiter.tid, NULL), EPERM); /* bound to a CPU outside */
	FAILS(processor_bind(P_LWPID, waiter.tid, cpus() - 1, BAD), EPERM);
	FAILS(processor_bind(P_LWPID, waiter.tid, cpus(), NULL), EINVAL);
	FAILS(pset_bind(PS_NONE, P_ALL, 0, NULL), EPERM);
	FAILS(pset_bind(PS_NONE, P_ALL, P_MYID, BAD), EPERM);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	FAILS(sched_setaffinity(parent, sizeof first, &first), EPERM);
	FAILS(sched_setaffinity(waiter.tid, sizeof first, &first), EPERM);
	CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
}

/* Another user's in a set. */
static void of_another_user_in_a_set(void)
{
	FAILS(pset_bind(PS_NONE, P_PSETID, set, BAD), EPERM);
	FAILS(pset_bind(PS_NONE, P_PSETID, NO_SET, BAD), EINVAL);
	CHECK(binding_of(waiter.tid) == set);
}

static void rights(void)
{
	begin(&waiter);
	CHECK(processor_bind(P_LWPID, waiter.tid, 0, NULL) == 0);
	as_another_user(of_another_user);
	CHECK(bound_cpu(waiter.tid) == 0 && binding_of(waiter.tid) == PS_NONE);
	if (cpus() > 1) {
		CHECK(processor_bind(P_LWPID, waiter.tid, PBIND_NONE, NULL) == 0);
		CHECK(pset_bind(set, P_LWPID, waiter.tid, NULL) == 0);
		as_another_user(of_another_user_in_a_set);
	}
	end(&waiter);
}

int main(void)
{
	set = made();
	empty = made();
	if (cpus() > 1)
		CHECK(pset_assign(set, 1, NULL) == 0);
	no_such_cpu_or_lwp();
	no_such_set();
	if (cpus() > 1)
		place_before_what_stands_in_the_way();
	rights();
	CHECK(pset_destroy(set) == 0 && pset_destroy(empty) == 0);
	return 0;
}
