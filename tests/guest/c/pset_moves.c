/* Processor sets: which CPUs may leave a set with LWPs, and what PS_MYID means to one who is bound. */
#include "pset.h"

static psetid_t first, second; /* without CPUs, between the tests */

static void home(processorid_t cpu)
{
	CHECK(pset_assign(PS_NONE, cpu, NULL) == 0);
}

/* From set to set: what stands in the way is the set that the CPU leaves, not the one where it goes. */
static void straight_from_set_to_set(void)
{
	psetid_t old = 77;

	CHECK(pset_assign(first, 1, NULL) == 0);
	CHECK(pset_assign(second, 1, &old) == 0 && old == first && set_of(1) == second);
	CHECK(pset_assign(first, 1, &old) == 0 && old == second);
	CHECK(pset_bind(first, P_LWPID, P_MYID, NULL) == 0);
	old = 77;
	FAILS(pset_assign(second, 1, BAD), EFAULT);
	FAILS(pset_assign(second, 1, &old), EBUSY);
	FAILS(pset_assign(PS_NONE, 1, &old), EBUSY);
	CHECK(old == 77 && set_of(1) == first && sched_getcpu() == 1);
	CHECK(pset_bind(PS_NONE, P_LWPID, P_MYID, NULL) == 0);
	CHECK(pset_assign(second, 1, &old) == 0 && old == first);
	home(1);
}

/* An LWP that is bound to a CPU, of the default set or of one that was made. */
static void with_who_is_bound_to_it(void)
{
	struct waiter waiter;

	begin(&waiter);
	CHECK(processor_bind(P_LWPID, waiter.tid, 1, NULL) == 0);
	FAILS(pset_assign(first, 1, NULL), EBUSY);
	CHECK(processor_bind(P_LWPID, waiter.tid, PBIND_NONE, NULL) == 0);
	CHECK(pset_assign(first, 1, NULL) == 0);
	if (cpus() > 2) /* so that it is not the last one, too */
		CHECK(pset_assign(first, 2, NULL) == 0);
	CHECK(pset_bind(first, P_LWPID, waiter.tid, NULL) == 0);
	CHECK(processor_bind(P_LWPID, waiter.tid, 1, NULL) == 0);
	FAILS(pset_assign(second, 1, NULL), EBUSY);
	end(&waiter);
	CHECK(pset_destroy(first) == 0); /* whatever is left of it */
	first = made();
	CHECK(pset_assign(second, 1, NULL) == 0);
	home(1);
}

/* Not the last one: its LWPs go on with those that stay. The default set is such a set on two CPUs, too. */
static void not_the_last_one(void)
{
	cpu_set_t mask;

	for (int round = 0; round < 20; round++) {
		CPU_ZERO(&mask);
		CPU_SET(1, &mask);
		CHECK(sched_setaffinity(0, sizeof mask, &mask) == 0 && sched_getcpu() == 1);
		CHECK(pset_assign(first, 1, NULL) == 0);
		CHECK(sched_getcpu() != 1);
		home(1);
		memset(&mask, -1, sizeof mask);
		CHECK(sched_setaffinity(0, sizeof mask, &mask) == 0);
	}
	if (cpus() < 3)
		return;
	CHECK(pset_assign(first, 1, NULL) == 0 && pset_assign(first, 2, NULL) == 0);
	CHECK(pset_bind(first, P_LWPID, P_MYID, NULL) == 0);
	CHECK(pset_assign(second, 1, NULL) == 0 && sched_getcpu() == 2);
	FAILS(pset_assign(second, 2, NULL), EBUSY);
	CHECK(pset_assign(first, 1, NULL) == 0 && pset_assign(PS_NONE, 2, NULL) == 0 && sched_getcpu() == 1);
	CHECK(pset_bind(PS_NONE, P_LWPID, P_MYID, NULL) == 0);
	home(1);
}

/* PS_MYID while the caller is bound is its set, in every call. */
static void my_own(void)
{
	int type = 77;
	uint_t count = 2;
	processorid_t list[2] = {77, 77};
	double averages[3] = {-7, -7, -7};
	psetid_t old = 77;
	struct waiter waiter;

	begin(&waiter);
	CHECK(pset_assign(first, 1, NULL) == 0 && pset_bind(first, P_LWPID, P_MYID, NULL) == 0);
	CHECK(pset_assign(PS_MYID, 1, &old) == 0 && old == first && set_of(1) == first);
	CHECK(pset_info(PS_MYID, &type, &count, list) == 0);
	CHECK(type == PS_PRIVATE && count == 1 && list[0] == 1 && list[1] == 77);
	CHECK(pset_bind(PS_MYID, P_LWPID, waiter.tid, &old) == 0 && old == PS_NONE && binding_of(waiter.tid) == first);
	CHECK(pset_bind(PS_NONE, P_PSETID, first, &old) == 0 && old == first && binding_of(waiter.tid) == PS_NONE);
	CHECK(binding() == PS_NONE);
	CHECK(pset_bind(first, P_LWPID, P_MYID, NULL) == 0);
	CHECK(pset_getloadavg(PS_MYID, averages, 3) == 3 && averages[0] >= 0 && averages[2] >= 0);
	if (cpus() > 2)
		CHECK(pset_assign(PS_MYID, 2, &old) == 0 && old == PS_NONE && set_of(2) == first);
	FAILS(pset_assign(PS_MYID, 0, BAD), EFAULT);
	CHECK(pset_destroy(PS_MYID) == 0 && set_of(1) == PS_NONE && binding() == PS_NONE);
	FAILS(pset_destroy(PS_MYID), EINVAL);
	first = made();
	end(&waiter);
}

int main(void)
{
	if (cpus() < 2)
		return 0;
	first = made();
	second = made();
	straight_from_set_to_set();
	with_who_is_bound_to_it();
	not_the_last_one();
	my_own();
	CHECK(pset_destroy(first) == 0 && pset_destroy(second) == 0 && sets() == 0);
	return 0;
}
