/* Processor sets: who may be meant. Those who have ended, a zombie's among them, are nobody; an LWP of another process is
 * somebody; and an LWP's id is no process's. */
#include <signal.h>

#include "pset.h"

static psetid_t set; /* has the second CPU if there is one */

static void is_nobody(idtype_t kind, id_t id)
{
	psetid_t wanted[] = {PS_QUERY, PS_NONE, set, PS_MYID};
	processorid_t cpu[] = {PBIND_QUERY, PBIND_NONE, 0, cpus() - 1};

	for (int which = 0; which < 4; which++) {
		FAILS(pset_bind(wanted[which], kind, id, BAD), ESRCH);
		FAILS(pset_bind(wanted[which], kind, id, NULL), ESRCH);
		FAILS(processor_bind(kind, id, cpu[which], BAD), ESRCH);
		FAILS(processor_bind(kind, id, cpu[which], NULL), ESRCH);
	}
}

static void zombies(void)
{
	siginfo_t info;
	pid_t zombie = fork();

	CHECK(zombie >= 0);
	if (zombie == 0)
		_exit(0);
	CHECK(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT) == 0);
	is_nobody(P_PID, zombie);
	is_nobody(P_LWPID, zombie);
	CHECK(waitpid(zombie, NULL, 0) == zombie);
	is_nobody(P_PID, zombie);
	is_nobody(P_LWPID, zombie);
}

static void ended_lwps(void)
{
	struct waiter waiter;

	begin(&waiter);
	CHECK(binding_of(waiter.tid) == PS_NONE);
	is_nobody(P_PID, waiter.tid); /* a tid, but no process's */
	end(&waiter);
	/* It was joined, which does not say that it is gone. */
	for (int tries = 0; tries < 1000 && pset_bind(PS_QUERY, P_LWPID, waiter.tid, NULL) == 0; tries++)
		usleep(1000);
	is_nobody(P_LWPID, waiter.tid);
	is_nobody(P_PID, waiter.tid);
}

/* A child with a second LWP, whose id it writes. */
static pid_t child_with_waiter(pid_t *tid)
{
	int ends[2];
	CHECK(pipe(ends) == 0);
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		struct waiter waiter;
		begin(&waiter);
		CHECK(write(ends[1], &waiter.tid, sizeof waiter.tid) == sizeof waiter.tid);
		for (;;)
			sleep(1000);
	}
	CHECK(read(ends[0], tid, sizeof *tid) == sizeof *tid);
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
	return child;
}

static void lwps_of_others(void)
{
	psetid_t old = 77, target = cpus() > 1 ? set : PS_NONE;
	processorid_t last = cpus() - 1, cpu = 77;
	pid_t tid, child = child_with_waiter(&tid);

	CHECK(tid != child);
	is_nobody(P_PID, tid);
	CHECK(pset_bind(target, P_LWPID, tid, &old) == 0 && old == PS_NONE && binding_of(tid) == target);
	CHECK(processor_bind(P_LWPID, tid, last, &cpu) == 0 && cpu == PBIND_NONE && bound_cpu(tid) == last);
	CHECK(binding_of(child) == PS_NONE && bound_cpu(child) == PBIND_NONE); /* its first LWP's */
	CHECK(binding() == PS_NONE && bound_cpu(P_MYID) == PBIND_NONE);
	if (cpus() > 1)
		FAILS(pset_assign(PS_NONE, last, NULL), EBUSY);
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
	is_nobody(P_LWPID, tid);
	if (cpus() > 1)
		CHECK(pset_assign(PS_NONE, last, NULL) == 0); /* nobody is bound to it any more */
}

int main(void)
{
	set = made();
	if (cpus() > 1)
		CHECK(pset_assign(set, cpus() - 1, NULL) == 0);
	zombies();
	ended_lwps();
	lwps_of_others();
	CHECK(pset_destroy(set) == 0);
	return 0;
}
