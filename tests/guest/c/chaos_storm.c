/*
 * Processes with several LWPs do everything at once, and are killed in the middle of it: memory comes and goes under a
 * fork, a program is run while other LWPs of the process make more, pipes lose their ends. Nothing hangs, nothing is left
 * behind, and the sums of CPU time close. The seed is printed, and comes from TALLY_SEED or the arguments, SEED ROUNDS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/lwp.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/thread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define CHILDREN 4
#define THREADS 3
#define POOL 16
#define PAGE 4096UL

static char *pool;
static int ends[2];

static uint64_t next(uint64_t *state)
{
	uint64_t mixed = *state += 0x9e3779b97f4a7c15;
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return mixed ^ mixed >> 31;
}

static void pause_for(long nanoseconds)
{
	struct timespec time = {0, nanoseconds};
	nanosleep(&time, 0);
}

static void *do_nothing(void *unused) { return unused; }

/* One of the pool's pages is given, taken, or used: in the wrong moment that is the end of the process. */
static void use_memory(uint64_t random)
{
	char *page = pool + random % POOL * PAGE;
	switch (random >> 32 & 7) {
	case 0:
		mmap(page, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case 1:
		mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		break;
	case 2:
		mprotect(page, PAGE, random >> 40 & 1 ? PROT_READ : PROT_READ | PROT_WRITE);
		break;
	case 3:
		madvise(page, 4 * PAGE, MADV_DONTNEED);
		break;
	case 4:
		mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, pool + random % 7 * PAGE);
		break;
	default: /* By a call, which does not mind what is not there. */
		thread_cputime((tid_t)(random % 50 + 1), (thread_cputime_t *)(page + random % 4000));
	}
}

static void fork_something(uint64_t random)
{
	pid_t child = random & 1 ? fork() : vfork();
	if (child == 0) {
		if (random & 2)
			execl("/chaos_storm", "chaos_storm", "quiet", (char *)0);
		_exit(3);
	}
	if (child > 0 && random & 4)
		kill(child, SIGKILL);
	if (child > 0 && random & 8)
		waitpid(child, 0, 0);
}

static void do_one_thing(uint64_t random)
{
	char byte = 0;
	pthread_t thread;
	cpu_set_t set;
	switch (random >> 56 & 15) {
	case 0:
		fork_something(random);
		break;
	case 1:
		if (pthread_create(&thread, 0, do_nothing, 0) == 0)
			pthread_detach(thread);
		break;
	case 2:
		pause_for(random % 200000);
		break;
	case 3:
		CPU_ZERO(&set);
		CPU_SET(random % 4, &set);
		CPU_SET(0, &set);
		sched_setaffinity(0, sizeof set, &set);
		break;
	case 4:
		sched_yield();
		break;
	case 5:
		if (write(ends[1], &byte, 1) == 1)
			(void)!read(ends[0], &byte, 1);
		break;
	case 6:
		while (waitpid(-1, 0, WNOHANG) > 0)
			;
		break;
	case 7:
		if (random % 500 == 0)
			execl("/chaos_storm", "chaos_storm", "quiet", (char *)0);
		break;
	default:
		use_memory(random);
	}
}

static void *work(void *seed)
{
	uint64_t state = (uintptr_t)seed;
	for (;;)
		do_one_thing(next(&state));
	return 0;
}

static void live(uint64_t seed)
{
	setpgid(0, 0);
	CHECK(pipe(ends) == 0);
	pool = mmap(0, (POOL + 8) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int thread = 1; thread < THREADS; thread++) {
		pthread_t made;
		pthread_create(&made, 0, work, (void *)(uintptr_t)next(&seed));
	}
	work((void *)(uintptr_t)next(&seed));
}

static void go(uint64_t seed)
{
	pid_t children[CHILDREN];
	for (int child = 0; child < CHILDREN; child++) {
		uint64_t own = next(&seed);
		children[child] = fork();
		if (children[child] == 0)
			live(own);
		CHECK(children[child] > 0);
	}
	for (int child = 0; child < CHILDREN; child++) {
		pause_for((long)(next(&seed) % 4000000));
		kill(children[child], SIGKILL);
		/* Whoever it was that it made and that was not yet in the group is made to end by the next. */
		while (kill(-children[child], SIGKILL) == 0)
			while (waitpid(-children[child], 0, 0) > 0)
				;
	}
	while (waitpid(-1, 0, 0) > 0)
		;
	CHECK(errno == ECHILD);
}

static unsigned long free_bytes(void)
{
	struct sysinfo info;
	CHECK(sysinfo(&info) == 0);
	return info.freeram * info.mem_unit;
}

static void check_sums(void)
{
	struct machine_times sums;
	CHECK(machine_times(&sums) == 0);
	/* Each sum is a floor of the same ticks. */
	CHECK(sums.lwp_user == sums.cpu_user);
	CHECK(sums.lwp_system == sums.cpu_system);
}

int main(int count, char **arguments)
{
	if (count == 2 && !strcmp(arguments[1], "quiet"))
		return 0;
	const char *given = count > 1 ? arguments[1] : getenv("TALLY_SEED");
	uint64_t seed = given ? strtoull(given, 0, 0) : 1;
	int rounds = count > 2 ? atoi(arguments[2]) : 12;
	printf("seed %llu, %d rounds\n", (unsigned long long)seed, rounds);
	fflush(stdout);
	unsigned long least = 0;
	for (int round = 0; round < rounds; round++) {
		go(seed + (uint64_t)round);
		check_sums();
		/* What the kernel keeps for the next time is the most that a round ever needed. */
		if (round == rounds / 2)
			least = free_bytes();
	}
	unsigned long after = free_bytes();
	if (after + (1 << 20) < least)
		printf("%lu KiB are not back\n", (least - after) / 1024);
	CHECK(after + (1 << 20) >= least);
	return 0;
}
