/*
 * A process ends although its other LWPs never enter the kernel, wherever they wait for a CPU at that moment. (Red on two
 * CPUs where an LWP that comes back from a switch on its way to user mode does not look again whether it is to end.)
 */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 24

static void *spin(void *unused)
{
	for (;;)
		__asm__ volatile("");
	return unused;
}

static void live(int threads)
{
	struct timespec some_slices = {0, 40000000};
	for (int thread = 0; thread < threads; thread++) {
		pthread_t made;
		CHECK(pthread_create(&made, 0, spin, 0) == 0);
	}
	nanosleep(&some_slices, 0);
	_exit(7);
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		int status;
		pid_t child = fork();
		if (child == 0)
			live(3 + round % 3);
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
	return 0;
}
