/* K22, a V that is not over when its semaphore is gone; K28, wake-ups between CPUs, of which none is lost. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <sched.h>

#include "ulocks_test.h"

#define PAIRS 8

static usptr_t *arena;
static int done;

static void *gives(void *place)
{
	usema_t *sema;
	while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST))
		if ((sema = __atomic_exchange_n((usema_t **)place, NULL, __ATOMIC_SEQ_CST)) != NULL)
			CHECK(usvsema(sema) == 0);
		else
			sched_yield();
	return NULL;
}

/* The waiter frees it, and has another in the same place at once: nothing of the V arrives there. */
static void gone_before_the_v_is_over(int instrument)
{
	usconfig(CONF_INITSIZE, 8192);
	arena = joined("one place");
	usema_t *place = NULL, *sema = made(arena, 0);
	void *room = usmalloc(16, arena); /* for the instrument */
	CHECK(room != NULL);
	while (usnewsema(arena, 0) != NULL)
		; /* no other place is left */
	done = 0;
	pthread_t giver = started(gives, &place);
	for (long time = rounds(1000); time > 0; time--) {
		if (instrument) {
			usfree(room, arena);
			CHECK(usctlsema(sema, instrument) == 0);
		}
		__atomic_store_n(&place, sema, __ATOMIC_SEQ_CST);
		CHECK(uspsema(sema) == 1);
		usfreesema(sema, arena);
		if (instrument)
			CHECK((room = usmalloc(16, arena)) != NULL);
		usema_t *next = usnewsema(arena, 0);
		CHECK(next == sema);
		CHECK(ustestsema(next) == 0);
		if (time % 16 == 0)
			doze(20000);
		CHECK(ustestsema(next) == 0 && uscpsema(next) == 0);
	}
	done = 1;
	ended(giver);
	usdetach(arena);
}

struct pair {
	usema_t *to, *back;
	long times, there, home;
};

static void on_cpu(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set); /* where there is none such, any will do */
}

static void *pings(void *argument)
{
	struct pair *pair = argument;
	on_cpu(0);
	for (; pair->there < pair->times; __atomic_fetch_add(&pair->there, 1, __ATOMIC_SEQ_CST))
		CHECK(usvsema(pair->to) == 0 && uspsema(pair->back) == 1);
	return NULL;
}

static void *pongs(void *argument)
{
	struct pair *pair = argument;
	on_cpu(1);
	for (; pair->home < pair->times; __atomic_fetch_add(&pair->home, 1, __ATOMIC_SEQ_CST))
		CHECK(uspsema(pair->to) == 1 && usvsema(pair->back) == 0);
	return NULL;
}

static long all_rounds(const struct pair *pairs, int count)
{
	long sum = 0;
	for (int which = 0; which < count; which++)
		sum += __atomic_load_n(&pairs[which].there, __ATOMIC_SEQ_CST) +
		       __atomic_load_n(&pairs[which].home, __ATOMIC_SEQ_CST);
	return sum;
}

/* Ends when all is done, or where nothing is done in a long time. */
static void watch(const struct pair *pairs, int count)
{
	long before = -1, sum;
	int still = 0;
	while ((sum = all_rounds(pairs, count)) < 2 * count * pairs->times) {
		still = sum == before ? still + 1 : 0;
		if (still == 2000)
			for (int which = 0; which < count; which++)
				fprintf(stderr, "pair %d: %ld there, %ld back\n", which, pairs[which].there,
					pairs[which].home);
		CHECK(still < 2000);
		before = sum;
		doze(10000000);
	}
}

static void ping_pong(int count, long times, int instrument)
{
	struct pair pairs[PAIRS];
	pthread_t threads[2 * PAIRS];
	for (int which = 0; which < count; which++) {
		struct pair *pair = &pairs[which];
		*pair = (struct pair){made(arena, 0), made(arena, 0), times, 0, 0};
		if (instrument)
			CHECK(usctlsema(pair->to, instrument) == 0 && usctlsema(pair->back, instrument) == 0);
		threads[2 * which] = started(pings, pair);
		threads[2 * which + 1] = started(pongs, pair);
	}
	watch(pairs, count);
	for (int which = 0; which < 2 * count; which++)
		ended(threads[which]);
	for (int which = 0; which < count; which++) {
		CHECK(ustestsema(pairs[which].to) == 0 && ustestsema(pairs[which].back) == 0);
		usfreesema(pairs[which].to, arena);
		usfreesema(pairs[which].back, arena);
	}
}

int main(int count, char **arguments)
{
	long times = count > 1 ? atol(arguments[1]) : rounds(20000);
	arena = joined("wake-ups");
	ping_pong(1, times, 0);
	ping_pong(1, times / 4, CS_METERON);
	ping_pong(1, times / 4, CS_DEBUGON);
	ping_pong(PAIRS, times / 10, 0);
	gone_before_the_v_is_over(0);
	gone_before_the_v_is_over(CS_DEBUGON);
	return 0;
}
