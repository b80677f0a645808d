/* For the C tests of arenas and semaphores. */
#ifndef ULOCKS_TEST_H
#define ULOCKS_TEST_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ulocks.h>
#include <unistd.h>

#include "check.h"

static void *volatile bad = (void *)8; /* no call may follow it; no compiler knows it */
#define BAD bad

/* The call answers so, with this error; the caller looks that nothing has changed. */
#define ANSWERS(call, answer, error)                                                                                   \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		CHECK((call) == (answer));                                                                             \
		if (errno != (error))                                                                                  \
			fprintf(stderr, "%s, not %s\n", strerror(errno), strerror(error));                             \
		CHECK(errno == (error));                                                                               \
	} while (0)

#define FAILS(call, error) ANSWERS(call, -1, error)
#define FAILS_NULL(call, error) ANSWERS(call, NULL, error)

/* Waits until it is so, and says what is not where that takes half a minute. */
#define AWAIT(condition)                                                                                               \
	do {                                                                                                           \
		int tries_ = 0;                                                                                        \
		while (!(condition)) {                                                                                 \
			CHECK(tries_++ < 100000 || !#condition " does not come");                                      \
			doze(300000);                                                                                  \
		}                                                                                                      \
	} while (0)

static inline void doze(long nanoseconds)
{
	struct timespec length = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	nanosleep(&length, NULL);
}

static inline int in_virtual_time(void) { return getenv("TALLY_ICOUNT") != NULL; }

/* So many rounds: fewer where the machine does one thing at a time and the host waits for each. */
static inline long rounds(long all) { return in_virtual_time() ? all / 10 : all; }

/* Whether the machine is there for nothing else, and storms are to take their full length. */
static inline int at_full_length(void) { return getenv("TALLY_LONG") != NULL; }

static inline uint64_t next(uint64_t *state)
{
	uint64_t mixed = *state += 0x9e3779b97f4a7c15;
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return mixed ^ mixed >> 31;
}

/* The seed that is given by TALLY_SEED or the first argument; printed. */
static inline uint64_t seed_of(int count, char **arguments)
{
	const char *given = count > 1 ? arguments[1] : getenv("TALLY_SEED");
	uint64_t seed = given ? strtoull(given, 0, 0) : 1;
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

/* Makes or joins an arena. */
static inline usptr_t *joined(const char *name)
{
	usptr_t *arena = usinit(name);
	CHECK(arena != NULL);
	return arena;
}

static inline usema_t *made(usptr_t *arena, int tokens)
{
	usema_t *sema = usnewsema(arena, tokens);
	CHECK(sema != NULL);
	return sema;
}

static inline semameter_t meter(usema_t *sema)
{
	semameter_t now;
	CHECK(usctlsema(sema, CS_METERFETCH, &now) == 0);
	return now;
}

static inline semadebug_t debug(usema_t *sema)
{
	semadebug_t now;
	CHECK(usctlsema(sema, CS_DEBUGFETCH, &now) == 0);
	return now;
}

/* The meter reads: immediate P's, P's, V's, V's with nobody waiting, who waits, most who waited. */
#define METER_IS(sema, phits, psemas, vsemas, vnowait, nwait, maxnwait)                                                \
	do {                                                                                                           \
		semameter_t now_ = meter(sema), right_ = {phits, psemas, vsemas, vnowait, nwait, maxnwait};            \
		if (memcmp(&now_, &right_, sizeof now_))                                                               \
			fprintf(stderr, "%d %d %d %d %d %d\n", now_.sm_phits, now_.sm_psemas, now_.sm_vsemas,          \
				now_.sm_vnowait, now_.sm_nwait, now_.sm_maxnwait);                                     \
		CHECK(memcmp(&now_, &right_, sizeof now_) == 0);                                                       \
	} while (0)

static inline pthread_t started(void *(*body)(void *), void *argument)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, body, argument) == 0);
	return thread;
}

static inline intptr_t ended(pthread_t thread)
{
	void *result;
	CHECK(pthread_join(thread, &result) == 0);
	return (intptr_t)result;
}

/* A child that does this and ends. */
static inline pid_t child(void (*body)(void *), void *argument)
{
	fflush(NULL);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		body(argument);
		_exit(0);
	}
	return pid;
}

static inline void ends_well(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
}

static inline void is_killed(pid_t pid)
{
	int status;
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static inline void in_child(void (*body)(void *), void *argument) { ends_well(child(body, argument)); }

/* Bodies for threads and children that wait. */
static inline void *waits(void *sema) { return (void *)(intptr_t)uspsema(sema); }
static inline void waits_once(void *sema) { CHECK(uspsema(sema) == 1); }

/* A page that children share with their parent. */
static inline void *shared_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	return page;
}

#endif
