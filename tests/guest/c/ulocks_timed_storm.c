/* uspsema_timed: every answer and error; K23, times that are over before the wait begins; a time-out that meets a V. */
#include "ulocks_test.h"

static usptr_t *arena;
static usema_t *sema;

static long long now(void)
{
	struct timespec time;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int timed(long long nanoseconds)
{
	struct timespec length = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	return uspsema_timed(sema, &length);
}

static void errors(void)
{
	static const struct timespec invalid[] = {{0, -1}, {0, 1000000000}, {-1, 0}, {-1, 999999999}, {1, 0x7fffffffffffffff}};

	CHECK(usctlsema(sema, CS_METERON) == 0);
	for (int token = 0; token < 2; token++) { /* also where there is a token */
		for (size_t which = 0; which < sizeof invalid / sizeof *invalid; which++)
			FAILS(uspsema_timed(sema, &invalid[which]), EINVAL);
		CHECK(ustestsema(sema) == token);
		METER_IS(sema, 0, 0, token, token, 0, 0); /* none of them was a P */
		CHECK(usvsema(sema) == 0);
	}
	CHECK(uscpsema(sema) == 1 && uscpsema(sema) == 1);
	CHECK(usctlsema(sema, CS_METEROFF) == 0);
}

static void answers(void)
{
	struct timespec for_ever = {0x7fffffffffffffff, 999999999};

	CHECK(usvsema(sema) == 0);
	CHECK(timed(0) == 1);
	CHECK(timed(0) == 0);
	CHECK(usvsema(sema) == 0);
	CHECK(uspsema_timed(sema, &for_ever) == 1);
	long long start = now();
	CHECK(timed(20000000) == 0);
	CHECK(now() - start >= 20000000);
	CHECK(ustestsema(sema) == 0);
}

/* It counts as a P; one of no time never queues. */
static void is_metered(void)
{
	CHECK(usctlsema(sema, CS_METERON) == 0);
	CHECK(timed(0) == 0);
	METER_IS(sema, 0, 1, 0, 0, 0, 0);
	CHECK(timed(1) == 0);
	METER_IS(sema, 0, 2, 0, 0, 0, meter(sema).sm_maxnwait);
	CHECK(timed(5000000) == 0);
	METER_IS(sema, 0, 3, 0, 0, 0, 1);
	CHECK(usvsema(sema) == 0 && timed(5000000) == 1);
	METER_IS(sema, 1, 4, 1, 1, 0, 1);
	CHECK(usctlsema(sema, CS_METEROFF) == 0);
}

/* K23 */
static void over_before_it_begins(void)
{
	static const long lengths[] = {0, 1, 1000, 10000};
	for (size_t which = 0; which < sizeof lengths / sizeof *lengths; which++) {
		long times = rounds(which < 2 ? 20000 : 2000);
		long long start = now();
		for (long time = 0; time < times; time++)
			CHECK(timed(lengths[which]) == 0);
		CHECK(now() - start >= times * lengths[which]);
		CHECK(ustestsema(sema) == 0);
	}
}

struct party {
	long got, missed;
	uint64_t random;
	long times;
};

static void *waits_a_little(void *argument)
{
	struct party *party = argument;
	for (long time = 0; time < party->times; time++) {
		int result = timed((long long)(next(&party->random) % 60000));
		CHECK(result == 0 || result == 1);
		*(result ? &party->got : &party->missed) += 1;
	}
	return NULL;
}

/* Tokens that are given equal tokens that are got and those left, whenever they meet the end of a wait. */
static void meets_v(uint64_t seed, int instrument)
{
	struct party parties[4];
	pthread_t threads[4];
	long given = rounds(5000), got = 0, missed = 0;

	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	for (unsigned which = 0; which < 4; which++) {
		parties[which] = (struct party){0, 0, seed + which, rounds(2000)};
		threads[which] = started(waits_a_little, &parties[which]);
	}
	for (long token = 0; token < given; token++) {
		CHECK(usvsema(sema) == 0);
		if (next(&seed) % 4 == 0)
			doze((long)(next(&seed) % 50000));
	}
	for (int which = 0; which < 4; which++) {
		ended(threads[which]);
		got += parties[which].got;
		missed += parties[which].missed;
	}
	CHECK(got + missed == 4 * rounds(2000));
	CHECK(ustestsema(sema) == given - got);
	while (uscpsema(sema) == 1)
		got++;
	CHECK(got == given);
}

int main(int count, char **arguments)
{
	uint64_t seed = seed_of(count, arguments);
	arena = joined("timed");
	sema = made(arena, 0);
	errors();
	answers();
	is_metered();
	over_before_it_begins();
	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	over_before_it_begins();
	CHECK(usctlsema(sema, CS_DEBUGOFF) == 0);
	meets_v(seed, 0);
	meets_v(seed + 10, CS_METERON);
	meets_v(seed + 20, CS_DEBUGON);
	return 0;
}
