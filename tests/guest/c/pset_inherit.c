/* Processor sets: a new LWP or process has its maker's set, CPU binding and affinity mask: the LWP's that makes it, not its
 * process's. Another program changes none of them, whichever LWP begins it. Needs two CPUs. */
#include "pset.h"

/* What an LWP is bound to; and the mask that its CPUs make, which is all that is told of its affinity. */
struct bindings {
	psetid_t set;
	processorid_t cpu;
	unsigned long mask;
};

static const char *self;
static psetid_t set;		 /* has the second CPU */
static struct bindings expected; /* of whoever calls `as_expected` */

/* May be called by a child that has its parent's memory. */
static int as_expected(void)
{
	unsigned long mask = 0;
	unsigned here = (unsigned)sched_getcpu();

	return binding() == expected.set && bound_cpu(P_MYID) == expected.cpu &&
	       sched_getaffinity(0, sizeof mask, (cpu_set_t *)&mask) == 0 && mask == expected.mask && mask >> here & 1;
}

static void *look(void *unused)
{
	CHECK(as_expected());
	return unused;
}

static void ends_well(pid_t child)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

/* Begins this program anew, which looks and ends. */
static void *run_another(void *unused)
{
	char place[3][24];
	char *arguments[] = {(char *)self, place[0], place[1], place[2], NULL};

	sprintf(place[0], "%d", expected.set);
	sprintf(place[1], "%d", expected.cpu);
	sprintf(place[2], "%lu", expected.mask);
	execv(self, arguments);
	return unused;
}

/* What the program does that is begun so: its first LWP, as it is now, has what the one had that began it. */
static int as_another(char *arguments[])
{
	psetid_t of_process = 77;

	expected = (struct bindings){atoi(arguments[1]), atoi(arguments[2]), strtoul(arguments[3], NULL, 10)};
	CHECK(gettid() == getpid() && as_expected());
	CHECK(pset_bind(PS_QUERY, P_PID, getpid(), &of_process) == 0 && of_process == expected.set);
	return 0;
}

static void in_a_thread(void *(*body)(void *))
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

/* Binds the caller as is expected. */
static void bind_caller(void)
{
	if (expected.set == set)
		CHECK(pset_bind(set, P_LWPID, P_MYID, NULL) == 0);
	if (expected.cpu != PBIND_NONE)
		CHECK(processor_bind(P_LWPID, P_MYID, expected.cpu, NULL) == 0);
	if (expected.set != set && expected.cpu == PBIND_NONE)
		CHECK(sched_setaffinity(0, sizeof expected.mask, (cpu_set_t *)&expected.mask) == 0);
}

/* What a thread does: its bindings arrive everywhere. */
static void *makes_others(void *unused)
{
	bind_caller();
	CHECK(as_expected());
	in_a_thread(look);
	pid_t child = fork();
	if (child == 0)
		_exit(!as_expected());
	ends_well(child);
	child = vfork();
	if (child == 0)
		_exit(!as_expected());
	ends_well(child);
	child = vfork();
	if (child == 0) {
		run_another(NULL);
		_exit(1);
	}
	ends_well(child);
	return unused;
}

static void *becomes_another(void *unused)
{
	bind_caller();
	return run_another(unused);
}

static void with(psetid_t set_bound, processorid_t cpu, unsigned long mask)
{
	expected = (struct bindings){set_bound, cpu, mask};
	in_a_thread(makes_others);
	CHECK(binding() == PS_NONE && bound_cpu(P_MYID) == PBIND_NONE); /* the first LWP's stay as they are */
	pid_t child = fork();
	if (child == 0) {
		in_a_thread(becomes_another); /* from which this LWP does not come back */
		_exit(1);
	}
	ends_well(child);
}

int main(int argc, char *argv[])
{
	self = argv[0];
	if (argc == 4)
		return as_another(argv);
	if (cpus() < 2)
		return 0;
	set = made();
	CHECK(pset_assign(set, 1, NULL) == 0);
	with(set, PBIND_NONE, 2);
	with(set, 1, 2);
	CHECK(pset_destroy(set) == 0);
	with(PS_NONE, 1, 2);
	with(PS_NONE, PBIND_NONE, 2);
	return 0;
}
