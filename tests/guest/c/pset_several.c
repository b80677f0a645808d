/* Processor sets: calls that mean several LWPs do all or nothing, and are told what stands in the way of one. */
#include "pset.h"

static psetid_t set; /* has the second CPU */
static struct waiter waiter;

/* The bindings of the caller, which is the process's first LWP, and of the other. */
static int sets_are(psetid_t ours, psetid_t its)
{
	return binding() == ours && binding_of(waiter.tid) == its;
}

static int cpus_are(processorid_t ours, processorid_t its)
{
	return bound_cpu(P_MYID) == ours && bound_cpu(waiter.tid) == its;
}

/* One LWP is in another set: no CPU is in both. Whichever comes first. */
static void a_cpu_for_lwps_of_two_sets(id_t in_set)
{
	processorid_t old = 77;

	CHECK(pset_bind(set, P_LWPID, in_set, NULL) == 0);
	FAILS(processor_bind(P_PID, P_MYID, 0, &old), EINVAL);
	FAILS(processor_bind(P_PID, P_MYID, 1, &old), EINVAL);
	FAILS(processor_bind(P_PID, getpid(), 1, BAD), EFAULT);
	CHECK(old == 77 && cpus_are(PBIND_NONE, PBIND_NONE));
	CHECK(pset_bind(PS_NONE, P_LWPID, in_set, NULL) == 0);
	CHECK(processor_bind(P_PID, P_MYID, 0, &old) == 0 && old == PBIND_NONE && cpus_are(0, 0));
	CHECK(processor_bind(P_PID, P_MYID, PBIND_NONE, &old) == 0 && old == 0 && cpus_are(PBIND_NONE, PBIND_NONE));
}

/* One LWP is bound to a CPU of the set: it cannot be taken out of it, and then the other is not either. */
static void unbinding_from_a_cpu(void)
{
	psetid_t old = 77;

	CHECK(pset_bind(set, P_PID, P_MYID, NULL) == 0);
	CHECK(processor_bind(P_LWPID, waiter.tid, 1, NULL) == 0);
	FAILS(pset_bind(PS_NONE, P_PID, P_MYID, &old), EBUSY);
	FAILS(pset_bind(PS_NONE, P_PID, getpid(), &old), EBUSY);
	FAILS(pset_bind(PS_NONE, P_PSETID, set, &old), EBUSY);
	FAILS(pset_bind(PS_NONE, P_ALL, 0, &old), EBUSY);
	FAILS(pset_bind(PS_NONE, P_LWPID, waiter.tid, &old), EBUSY);
	FAILS(pset_bind(PS_NONE, P_ALL, 0, BAD), EFAULT);
	CHECK(old == 77 && sets_are(set, set) && cpus_are(PBIND_NONE, 1));
	CHECK(pset_bind(set, P_PID, P_MYID, &old) == 0 && old == set); /* they are there already */
	FAILS(pset_assign(PS_NONE, 1, NULL), EBUSY);
	CHECK(processor_bind(P_LWPID, waiter.tid, PBIND_NONE, NULL) == 0);
	CHECK(pset_bind(PS_NONE, P_PSETID, set, &old) == 0 && old == set && sets_are(PS_NONE, PS_NONE));
}

/* The other way: bound to a CPU of the default set. */
static void binding_from_a_cpu(void)
{
	psetid_t old = 77;

	CHECK(processor_bind(P_LWPID, waiter.tid, 0, NULL) == 0);
	FAILS(pset_bind(set, P_PID, P_MYID, &old), EBUSY);
	CHECK(old == 77 && sets_are(PS_NONE, PS_NONE));
	CHECK(pset_bind(set, P_LWPID, P_MYID, &old) == 0 && old == PS_NONE && sets_are(set, PS_NONE));
	FAILS(pset_bind(set, P_PID, P_MYID, &old), EBUSY);
	CHECK(pset_bind(PS_NONE, P_PID, P_MYID, &old) == 0 && old == set && sets_are(PS_NONE, PS_NONE));
	CHECK(processor_bind(P_LWPID, waiter.tid, PBIND_NONE, NULL) == 0);
}

/* Those whose set is destroyed keep a CPU binding, which is one of the default set's then. */
static void a_cpu_outlives_its_set(void)
{
	CHECK(pset_bind(set, P_LWPID, waiter.tid, NULL) == 0);
	CHECK(processor_bind(P_LWPID, waiter.tid, 1, NULL) == 0);
	CHECK(pset_destroy(set) == 0);
	CHECK(sets_are(PS_NONE, PS_NONE) && cpus_are(PBIND_NONE, 1));
	CHECK(processor_bind(P_LWPID, waiter.tid, PBIND_NONE, NULL) == 0);
}

int main(void)
{
	if (cpus() < 2)
		return 0;
	set = made();
	CHECK(pset_assign(set, 1, NULL) == 0);
	begin(&waiter);
	a_cpu_for_lwps_of_two_sets(waiter.tid);
	a_cpu_for_lwps_of_two_sets(P_MYID);
	unbinding_from_a_cpu();
	binding_from_a_cpu();
	a_cpu_outlives_its_set();
	end(&waiter);
	return 0;
}
