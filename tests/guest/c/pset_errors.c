/* Processor sets: every error of every call, in the order in which it is looked for; and a call that fails has changed
 * nothing. Rows that want a second CPU are left out where there is one. */
#include "pset.h"

static psetid_t set; /* one with a CPU if there are two, else an empty one */

static void create(void)
{
	psetid_t id = 77, last = 0;
	uint_t before = sets(), most = 2 * (uint_t)cpus();

	FAILS(pset_create(NULL), EFAULT);
	FAILS(pset_create(BAD), EFAULT);
	CHECK(sets() == before);
	psetid_t all[256];
	for (uint_t count = before; count < most; count++) {
		CHECK(pset_create(&all[count]) == 0);
		CHECK(all[count] > last);
		last = all[count];
	}
	FAILS(pset_create(BAD), EFAULT); /* before the limit is looked at */
	FAILS(pset_create(&id), ENOMEM);
	CHECK(id == 77 && sets() == most);
	for (uint_t count = before; count < most; count++)
		CHECK(pset_destroy(all[count]) == 0);
	CHECK(sets() == before);
}

static void destroy(void)
{
	psetid_t none[] = {PS_NONE, PS_MYID, PS_QUERY, 0, -4, NO_SET, -2147483647 - 1};

	for (size_t which = 0; which < sizeof none / sizeof *none; which++)
		FAILS(pset_destroy(none[which]), EINVAL);
	psetid_t gone = made();
	CHECK(pset_destroy(gone) == 0);
	FAILS(pset_destroy(gone), EINVAL);
}

static void assign(void)
{
	psetid_t old = 77;
	processorid_t no_cpu[] = {-1, -2147483647 - 1, cpus(), 64, 1000};

	for (size_t which = 0; which < sizeof no_cpu / sizeof *no_cpu; which++) {
		FAILS(pset_assign(NO_SET, no_cpu[which], BAD), EINVAL);
		FAILS(pset_assign(PS_QUERY, no_cpu[which], &old), EINVAL);
	}
	FAILS(pset_assign(NO_SET, 0, BAD), EINVAL);
	FAILS(pset_assign(0, 0, NULL), EINVAL);
	FAILS(pset_assign(PS_QUERY, 0, BAD), EFAULT);
	CHECK(pset_assign(PS_QUERY, 0, NULL) == 0);
	psetid_t empty = made();
	while (set_of(0) != PS_NONE) /* CPU 0 is the default set's last one */
		CHECK(pset_assign(PS_NONE, 0, NULL) == 0);
	for (processorid_t cpu = 1; cpu < cpus(); cpu++)
		CHECK(pset_assign(set, cpu, NULL) == 0);
	FAILS(pset_assign(empty, 0, BAD), EFAULT);
	FAILS(pset_assign(empty, 0, &old), EBUSY);
	CHECK(old == 77 && set_of(0) == PS_NONE);
	CHECK(pset_assign(PS_NONE, 0, &old) == 0); /* the same set, before it is looked whether it is the last */
	CHECK(old == PS_NONE);
	CHECK(pset_assign(PS_MYID, 0, &old) == 0); /* unbound: the default set */
	CHECK(pset_destroy(empty) == 0);
	for (processorid_t cpu = 2; cpu < cpus(); cpu++)
		CHECK(pset_assign(PS_NONE, cpu, NULL) == 0);
}

/* Moving CPUs from under LWPs. */
static void assign_busy(void)
{
	psetid_t old = 77;

	CHECK(pset_bind(set, P_LWPID, P_MYID, NULL) == 0);
	FAILS(pset_assign(PS_NONE, 1, BAD), EFAULT);
	FAILS(pset_assign(PS_NONE, 1, &old), EBUSY); /* the last CPU of a set with an LWP */
	CHECK(old == 77 && set_of(1) == set);
	CHECK(pset_assign(PS_MYID, 1, &old) == 0 && old == set);
	CHECK(pset_bind(PS_NONE, P_LWPID, P_MYID, NULL) == 0);
	CHECK(pset_assign(PS_NONE, 1, NULL) == 0); /* nobody is left: the set is empty then */
	CHECK(processor_bind(P_LWPID, P_MYID, 1, NULL) == 0);
	FAILS(pset_assign(set, 1, &old), EBUSY); /* an LWP is bound to it */
	CHECK(pset_assign(PS_NONE, 1, NULL) == 0); /* the same set */
	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL) == 0);
	CHECK(pset_assign(set, 1, NULL) == 0);
}

static void info(void)
{
	int type = 77;
	uint_t count = 0;
	processorid_t list[2] = {77, 77};

	FAILS(pset_info(NO_SET, BAD, BAD, BAD), EINVAL);
	FAILS(pset_info(PS_QUERY, NULL, NULL, NULL), EINVAL);
	FAILS(pset_info(0, NULL, NULL, NULL), EINVAL);
	FAILS(pset_info(set, BAD, NULL, NULL), EFAULT);
	FAILS(pset_info(set, &type, BAD, NULL), EFAULT);
	count = 1;
	FAILS(pset_info(PS_NONE, &type, &count, BAD), EFAULT);
	CHECK(type == 77 && count == 1);
	CHECK(pset_info(set, NULL, NULL, NULL) == 0);
	CHECK(pset_info(PS_NONE, &type, NULL, NULL) == 0 && type == PS_NONE);
	CHECK(pset_info(PS_MYID, &type, NULL, NULL) == 0 && type == PS_NONE);
	count = 0;
	CHECK(pset_info(set, &type, &count, list) == 0);
	CHECK(type == PS_PRIVATE && count == (cpus() > 1) && list[0] == 77);
	count = 2;
	CHECK(pset_info(set, NULL, &count, list) == 0);
	CHECK(count == (cpus() > 1) && list[0] == (cpus() > 1 ? 1 : 77) && list[1] == 77);
}

static void list(void)
{
	psetid_t ids[2] = {77, 77};
	uint_t count = 1;

	FAILS(pset_list(ids, BAD), EFAULT);
	FAILS(pset_list(BAD, &count), EFAULT);
	CHECK(count == 1);
	psetid_t second = made();
	CHECK(pset_list(ids, &count) == 0);
	CHECK(count == 2 && ids[0] == set && ids[1] == 77);
	CHECK(pset_list(ids, &count) == 0);
	CHECK(count == 2 && ids[1] == second);
	CHECK(pset_list(NULL, &count) == 0 && count == 2);
	CHECK(pset_destroy(second) == 0);
}

static void bind(void)
{
	psetid_t old = 77, empty = made();

	FAILS(pset_bind(NO_SET, (idtype_t)99, 99999, BAD), EINVAL);
	FAILS(pset_bind(0, P_PID, P_MYID, &old), EINVAL);
	FAILS(pset_bind(PS_NONE, P_PID, 99999, BAD), ESRCH);
	FAILS(pset_bind(PS_NONE, P_LWPID, 99999, BAD), ESRCH);
	FAILS(pset_bind(PS_QUERY, P_PID, 99999, &old), ESRCH);
	FAILS(pset_bind(PS_NONE, (idtype_t)99, P_MYID, BAD), EINVAL);
	FAILS(pset_bind(empty, P_ALL, 0, BAD), EINVAL);
	FAILS(pset_bind(empty, P_PSETID, empty, BAD), EINVAL);
	FAILS(pset_bind(PS_QUERY, P_ALL, 0, &old), EINVAL);
	FAILS(pset_bind(PS_NONE, P_PSETID, NO_SET, &old), EINVAL);
	FAILS(pset_bind(empty, P_PID, P_MYID, BAD), EFAULT);
	FAILS(pset_bind(empty, P_PID, P_MYID, &old), EINVAL); /* it has no CPU */
	CHECK(old == 77 && binding() == PS_NONE);
	CHECK(pset_bind(PS_QUERY, P_PID, getpid(), NULL) == 0);
	FAILS(pset_bind(PS_QUERY, P_PID, getpid(), BAD), EFAULT);
	CHECK(pset_bind(PS_MYID, P_PID, P_MYID, &old) == 0 && old == PS_NONE);
	CHECK(pset_bind(PS_NONE, P_ALL, 0, NULL) == 0);
	CHECK(pset_bind(PS_NONE, P_PSETID, empty, NULL) == 0);
	CHECK(pset_destroy(empty) == 0);
}

static void bind_busy(void)
{
	psetid_t old = 77;
	processorid_t cpu = 77;

	CHECK(processor_bind(P_LWPID, P_MYID, 0, NULL) == 0);
	FAILS(pset_bind(set, P_PID, P_MYID, BAD), EFAULT);
	FAILS(pset_bind(set, P_PID, P_MYID, &old), EBUSY); /* bound to CPU 0, which is not in the set */
	CHECK(old == 77 && binding() == PS_NONE);
	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_NONE, &cpu) == 0 && cpu == 0);
	CHECK(pset_bind(set, P_PID, P_MYID, &old) == 0 && old == PS_NONE && binding() == set);
	CHECK(sched_getcpu() == 1);
	CHECK(pset_bind(PS_QUERY, P_PID, P_MYID, &old) == 0 && old == set);
	FAILS(processor_bind(P_LWPID, P_MYID, 0, &cpu), EINVAL); /* outside the set */
	CHECK(cpu == 0);
	CHECK(processor_bind(P_LWPID, P_MYID, 1, NULL) == 0);
	cpu_set_t outside;
	CPU_ZERO(&outside);
	CPU_SET(0, &outside);
	FAILS(sched_setaffinity(0, sizeof outside, &outside), EINVAL);
	CHECK(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL) == 0);
	CHECK(pset_destroy(PS_MYID) == 0); /* the caller's own */
	CHECK(binding() == PS_NONE && set_of(1) == PS_NONE);
	set = made();
	CHECK(pset_assign(set, 1, NULL) == 0);
}

static void bind_cpu(void)
{
	processorid_t old = 77;

	FAILS(processor_bind(P_LWPID, P_MYID, cpus(), BAD), EINVAL);
	FAILS(processor_bind(P_LWPID, P_MYID, -3, BAD), EINVAL);
	FAILS(processor_bind((idtype_t)99, P_MYID, 0, BAD), EINVAL);
	FAILS(processor_bind(P_LWPID, 99999, 0, BAD), ESRCH);
	FAILS(processor_bind(P_PID, 99999, PBIND_QUERY, BAD), ESRCH);
	FAILS(processor_bind(P_LWPID, P_MYID, 0, BAD), EFAULT);
	FAILS(processor_bind(P_LWPID, P_MYID, PBIND_QUERY, BAD), EFAULT);
	CHECK(processor_bind(P_PID, P_MYID, PBIND_QUERY, &old) == 0 && old == PBIND_NONE);
	CHECK(processor_bind(P_PID, P_MYID, 0, NULL) == 0);
	CHECK(processor_bind(P_LWPID, getpid(), PBIND_QUERY, &old) == 0 && old == 0);
	CHECK(processor_bind(P_PID, getpid(), PBIND_NONE, &old) == 0 && old == 0);
}

static void getloadavg_rows(void)
{
	double values[4] = {-7, -7, -7, -7};

	FAILS(pset_getloadavg(NO_SET, BAD, -1), EINVAL);
	FAILS(pset_getloadavg(set, BAD, -2147483647 - 1), EINVAL);
	psetid_t none[] = {NO_SET, 0, PS_QUERY, -4, -5};
	for (size_t which = 0; which < sizeof none / sizeof *none; which++) {
		FAILS(pset_getloadavg(none[which], BAD, 3), EINVAL);
		FAILS(pset_getloadavg(none[which], values, 0), EINVAL);
	}
	CHECK(pset_getloadavg(set, BAD, 0) == 0);
	CHECK(pset_getloadavg(PS_NONE, NULL, 0) == 0);
	FAILS(pset_getloadavg(set, BAD, 3), EFAULT);
	FAILS(pset_getloadavg(PS_NONE, NULL, 1), EFAULT);
	CHECK(pset_getloadavg(set, values, 1) == 1 && values[LOADAVG_1MIN] >= 0 && values[LOADAVG_5MIN] == -7);
	CHECK(pset_getloadavg(set, values, 1000) == LOADAVG_NSTATS);
	CHECK(values[LOADAVG_15MIN] >= 0 && values[3] == -7);
	CHECK(pset_getloadavg(PS_NONE, values, 3) == 3);
	CHECK(pset_getloadavg(PS_MYID, values, 2) == 2);
	CHECK(getloadavg(values, 3) == 3 && getloadavg(values, 0) == 0 && getloadavg(values, -1) == -1);
}

/* What only user 0 may, and what all may. */
static void another_user(void)
{
	psetid_t old = 77;
	double values[3];

	FAILS(pset_create(BAD), EPERM);
	FAILS(pset_destroy(NO_SET), EPERM);
	FAILS(pset_assign(NO_SET, -1, BAD), EPERM);
	CHECK(pset_assign(PS_QUERY, 0, &old) == 0);
	FAILS(pset_bind(NO_SET, P_PID, getppid(), BAD), EINVAL);
	FAILS(pset_bind(PS_NONE, P_PID, getppid(), BAD), EPERM);
	CHECK(pset_bind(PS_QUERY, P_PID, getppid(), &old) == 0 && old == PS_NONE);
	FAILS(processor_bind(P_PID, getppid(), 0, BAD), EPERM);
	CHECK(processor_bind(P_PID, getppid(), PBIND_QUERY, NULL) == 0);
	CHECK(pset_bind(PS_NONE, P_PID, P_MYID, NULL) == 0);
	CHECK(processor_bind(P_PID, P_MYID, 0, NULL) == 0);
	CHECK(pset_getloadavg(set, values, 3) == 3);
}

int main(void)
{
	set = made();
	CHECK(set_of(0) == PS_NONE && binding() == PS_NONE);
	create();
	destroy();
	assign();
	if (cpus() > 1)
		assign_busy();
	info();
	list();
	bind();
	if (cpus() > 1)
		bind_busy();
	bind_cpu();
	getloadavg_rows();
	as_another_user(another_user);
	CHECK(pset_destroy(set) == 0);
	CHECK(sets() == 0);
	return 0;
}
