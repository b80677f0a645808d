/* cputime [TID]: user and system time of an LWP, its own by default, as AIX's thread_cputime tells it. */
#include <stdio.h>
#include <sys/thread.h>

int main(int argc, char *argv[])
{
	tid_t tid = argc > 1 ? atoi(argv[1]) : -1;
	thread_cputime_t time;

	if (thread_cputime(tid, &time) == -1) {
		perror("thread_cputime");
		return 1;
	}
	printf("LWP %d: %llu ns user, %llu ns system\n", tid == -1 ? thread_self() : tid, (unsigned long long)time.utime,
	       (unsigned long long)time.stime);
	return 0;
}
