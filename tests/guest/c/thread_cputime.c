/* thread_cputime and thread_self as on their AIX pages. The header brings stdlib.h, so nothing else is included here. */
#include <sys/thread.h>

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

_Static_assert(sizeof(thread_cputime_t) == 16, "two 64-bit numbers");

static tid_t other;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *sleeper(void *unused)
{
	__atomic_store_n(&other, thread_self(), __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&held);
	return unused;
}

int main(void)
{
	thread_cputime_t own, again, theirs;

	CHECK(thread_self() == getpid());
	CHECK(thread_cputime(-1, &own) == 0);
	CHECK(thread_cputime(thread_self(), &again) == 0);
	CHECK(again.utime >= own.utime && again.stime >= own.stime);

	pthread_t thread;
	pthread_mutex_lock(&held);
	CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0);
	while (__atomic_load_n(&other, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	usleep(20000);
	CHECK(other != thread_self());
	CHECK(thread_cputime(other, &theirs) == 0);
	usleep(20000);
	CHECK(thread_cputime(other, &again) == 0);
	CHECK(again.utime == theirs.utime && again.stime == theirs.stime); /* it sleeps */
	CHECK(theirs.utime > 0 && theirs.stime > 0);
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);

	errno = 0;
	CHECK(thread_cputime(0, &own) == -1 && errno == EINVAL);
	CHECK(thread_cputime(-2, &own) == -1 && errno == EINVAL);
	CHECK(thread_cputime(2147483647, &own) == -1 && errno == ESRCH);
	CHECK(thread_cputime(2147483647, NULL) == -1 && errno == ESRCH);
	CHECK(thread_cputime(thread_self(), NULL) == -1 && errno == EFAULT);
	return 0;
}
