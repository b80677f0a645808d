/* The table of calls, row by row: what each answers, every error, and that a call that fails changes nothing. */
#include <limits.h>

#include "ulocks_test.h"

static usptr_t *arena;

static void makes(void)
{
	FAILS_NULL(usnewsema(arena, -1), EINVAL);
	FAILS_NULL(usnewsema(arena, 30001), EINVAL);
	FAILS_NULL(usnewsema(arena, INT_MIN), EINVAL);
	FAILS_NULL(usnewsema(arena, INT_MAX), EINVAL);
	FAILS_NULL(usnewsema(NULL, 1), EINVAL);
	FAILS_NULL(usnewsema(BAD, 1), EINVAL);
	CHECK(ustestsema(made(arena, 0)) == 0);
	CHECK(ustestsema(made(arena, 30000)) == 30000);
}

/* A new one has every instrument off. */
static void is_plain(usema_t *sema)
{
	semameter_t meter;
	semadebug_t debug;
	FAILS(usctlsema(sema, CS_METERFETCH, &meter), EINVAL);
	FAILS(usctlsema(sema, CS_DEBUGFETCH, &debug), EINVAL);
	int count = ustestsema(sema);
	if (count == 1) { /* not recursive: the second P gets nothing */
		CHECK(uscpsema(sema) == 1 && uscpsema(sema) == 0 && usvsema(sema) == 0);
	}
}

static void counts(void)
{
	usema_t *sema = made(arena, 2);

	CHECK(uspsema(sema) == 1 && ustestsema(sema) == 1);
	CHECK(uscpsema(sema) == 1 && ustestsema(sema) == 0);
	CHECK(uscpsema(sema) == 0 && ustestsema(sema) == 0);
	CHECK(usvsema(sema) == 0 && ustestsema(sema) == 1);
	CHECK(usvsema(sema) == 0 && ustestsema(sema) == 2);
	CHECK(usvsema(sema) == 0 && ustestsema(sema) == 3); /* more than at first */
	for (int token = 0; token < 3; token++)
		CHECK(uspsema(sema) == 1);
	CHECK(uscpsema(sema) == 0);
	usfreesema(sema, arena);
}

static void waiters_count_down(void)
{
	usema_t *sema = made(arena, 0);
	pthread_t threads[3];

	for (int waiting = 0; waiting < 3; waiting++) {
		threads[waiting] = started(waits, sema);
		AWAIT(ustestsema(sema) == -waiting - 1);
	}
	CHECK(uscpsema(sema) == 0 && ustestsema(sema) == -3);
	for (int waiting = 3; waiting > 0; waiting--) {
		CHECK(usvsema(sema) == 0);
		CHECK(ustestsema(sema) == 1 - waiting); /* out of the queue when V returns */
	}
	for (int thread = 0; thread < 3; thread++)
		CHECK(ended(threads[thread]) == 1);
	CHECK(ustestsema(sema) == 0);
	usfreesema(sema, arena);
}

/* V's go on beyond what usnewsema takes, up to 2^31-1. So many V's take too long: the count, which is the upper half of the
 * semaphore's first word, is written there. */
static void counts_on(void)
{
	usema_t *sema = made(arena, 30000);

	for (long token = 30000; token < 40000; token++)
		CHECK(usvsema(sema) == 0);
	CHECK(ustestsema(sema) == 40000);
	((volatile int *)sema)[1] = 0x7ffffffe;
	CHECK(usvsema(sema) == 0);
	for (int time = 0; time < 3; time++) {
		FAILS(usvsema(sema), EOVERFLOW);
		CHECK(ustestsema(sema) == 0x7fffffff);
	}
	CHECK(uspsema(sema) == 1 && usvsema(sema) == 0);
	FAILS(usvsema(sema), EOVERFLOW);
	CHECK(usctlsema(sema, CS_METERON) == 0 && usctlsema(sema, CS_DEBUGON) == 0);
	FAILS(usvsema(sema), EOVERFLOW);
	METER_IS(sema, 0, 0, 0, 0, 0, 0);
	CHECK(debug(sema).sd_last_pid == -1);
	usfreesema(sema, arena);
}

static void begins_anew(void)
{
	usema_t *sema = made(arena, 1);

	CHECK(uspsema(sema) == 1);
	CHECK(usctlsema(sema, CS_METERON) == 0 && usctlsema(sema, CS_DEBUGON) == 0);
	FAILS(usinitsema(sema, -1), EINVAL);
	FAILS(usinitsema(sema, 30001), EINVAL);
	CHECK(ustestsema(sema) == 0 && meter(sema).sm_psemas == 0);
	CHECK(usinitsema(sema, 1) == 0);
	CHECK(ustestsema(sema) == 1);
	is_plain(sema);
	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0);
	CHECK(uspsema(sema) == 1 && uspsema(sema) == 1);
	CHECK(usinitsema(sema, 1) == 0);
	CHECK(ustestsema(sema) == 1);
	is_plain(sema);
	CHECK(usinitsema(sema, 0) == 0 && ustestsema(sema) == 0);
	FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL); /* not initialised to 1 */
	CHECK(usinitsema(sema, 30000) == 0 && ustestsema(sema) == 30000);
	usfreesema(sema, arena);
}

/* What is not a semaphore is EINVAL for every call that can say so. */
static void none(usema_t *sema)
{
	struct timespec zero = {0, 0};
	semameter_t meter;
	semadebug_t debug;

	FAILS(usinitsema(sema, 1), EINVAL);
	FAILS(uspsema(sema), EINVAL);
	FAILS(uscpsema(sema), EINVAL);
	FAILS(usvsema(sema), EINVAL);
	FAILS(uspsema_timed(sema, &zero), EINVAL);
	FAILS(usctlsema(sema, CS_METERON), EINVAL);
	FAILS(usctlsema(sema, CS_METERFETCH, &meter), EINVAL);
	FAILS(usctlsema(sema, CS_DEBUGFETCH, &debug), EINVAL);
	FAILS(usctlsema(sema, CS_HISTON), EINVAL);
	FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL);
	errno = 0;
	CHECK(ustestsema(sema) == -1 && errno == EINVAL);
	errno = 0;
	usfreesema(sema, arena); /* has no answer */
}

int main(void)
{
	arena = joined("table");
	makes();
	usema_t *plain = made(arena, 1);
	is_plain(plain);
	counts();
	waiters_count_down();
	counts_on();
	begins_anew();
	none(NULL);
	usema_t *freed = made(arena, 1);
	usfreesema(freed, arena);
	none(freed);
	CHECK(ustestsema(plain) == 1);
	return 0;
}
