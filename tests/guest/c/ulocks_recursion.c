/* CS_RECURSIVEON and RECURSIVEOFF: every rule; K25, an owner that ends with it; K26, many LWPs and random depths. */
#include "ulocks_test.h"

static usptr_t *arena;
static usema_t *sema;

static void *nothing_for_another(void *unused)
{
	(void)unused;
	CHECK(uscpsema(sema) == 0);
	FAILS(usvsema(sema), EPERM);
	FAILS(usctlsema(sema, CS_RECURSIVEOFF), EINVAL);
	return NULL;
}

static void depth(void)
{
	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0);
	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0); /* on while on */
	CHECK(uspsema(sema) == 1 && uscpsema(sema) == 1);
	struct timespec little = {0, 1};
	CHECK(uspsema_timed(sema, &little) == 1);
	METER_IS(sema, 3, 3, 0, 0, 0, 0);
	CHECK(ustestsema(sema) == 0);
	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0); /* on while on, though it is held */
	FAILS(usctlsema(sema, CS_RECURSIVEOFF), EINVAL);
	CHECK(usvsema(sema) == 0 && usvsema(sema) == 0);
	METER_IS(sema, 3, 3, 2, 2, 0, 0);
	CHECK(ustestsema(sema) == 0);
	ended(started(nothing_for_another, NULL)); /* still held */
	METER_IS(sema, 3, 4, 2, 2, 0, 0); /* its V was none */
	CHECK(usvsema(sema) == 0);
	CHECK(ustestsema(sema) == 1);
	FAILS(usvsema(sema), EPERM); /* nobody holds it */
	CHECK(ustestsema(sema) == 1);
	METER_IS(sema, 3, 4, 3, 3, 0, 0);
	CHECK(usctlsema(sema, CS_RECURSIVEOFF) == 0);
	CHECK(usctlsema(sema, CS_RECURSIVEOFF) == 0); /* off while off */
	CHECK(uspsema(sema) == 1 && uscpsema(sema) == 0);
	CHECK(usctlsema(sema, CS_RECURSIVEOFF) == 0); /* off while off, though it is held */
	CHECK(usvsema(sema) == 0 && usvsema(sema) == 0); /* it counts again */
	CHECK(ustestsema(sema) == 2);
	usfreesema(sema, arena);
}

/* Only one that was initialised to 1, and is free now. */
static void not_for_all(void)
{
	static const int others[] = {0, 2, 30000};
	for (size_t which = 0; which < sizeof others / sizeof *others; which++) {
		sema = made(arena, others[which]);
		FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL);
		if (others[which] == 2) {
			CHECK(uspsema(sema) == 1); /* the count is 1 now; it was not at first */
			FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL);
		}
		if (others[which] == 0) {
			CHECK(usvsema(sema) == 0);
			FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL);
		}
		usfreesema(sema, arena);
	}
	sema = made(arena, 1);
	CHECK(usvsema(sema) == 0);
	FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL); /* the count is 2 */
	CHECK(uspsema(sema) == 1 && uspsema(sema) == 1);
	FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL); /* held */
	pthread_t waiter = started(waits, sema);
	AWAIT(ustestsema(sema) == -1);
	FAILS(usctlsema(sema, CS_RECURSIVEON), EINVAL);
	CHECK(usvsema(sema) == 0 && ended(waiter) == 1);
	CHECK(uscpsema(sema) == 0); /* none of the errors switched it on */
	usfreesema(sema, arena);
}

static void *waits_and_nests(void *unused)
{
	(void)unused;
	CHECK(uspsema(sema) == 1 && uspsema(sema) == 1);
	CHECK(usvsema(sema) == 0 && usvsema(sema) == 0);
	return NULL;
}

/* Handed over, it is the woken one's, with all that belongs to it. */
static void handed_over(void)
{
	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0 && usctlsema(sema, CS_METERON) == 0);
	CHECK(uspsema(sema) == 1 && uspsema(sema) == 1);
	pthread_t waiter = started(waits_and_nests, NULL);
	AWAIT(ustestsema(sema) == -1);
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 2, 3, 1, 0, 1, 1); /* nested, with somebody queued */
	CHECK(ustestsema(sema) == -1);
	CHECK(usvsema(sema) == 0);
	CHECK(ended(waiter) == 0);
	CHECK(ustestsema(sema) == 1);
	FAILS(usvsema(sema), EPERM);
	METER_IS(sema, 3, 4, 4, 2, 0, 1);
	usfreesema(sema, arena);
}

static void holds_it_three_times(void *unused)
{
	(void)unused;
	for (int time = 0; time < 3; time++)
		CHECK(uspsema(sema) == 1);
}

static void *holds_in_thread(void *unused)
{
	holds_it_three_times(unused);
	return NULL;
}

/* K25: no corrective action: it stays held, the debug record names the dead. */
static void the_owner_dies(void)
{
	for (int in_thread = 0; in_thread < 2; in_thread++) {
		sema = made(arena, 1);
		CHECK(usctlsema(sema, CS_RECURSIVEON) == 0 && usctlsema(sema, CS_DEBUGON) == 0);
		pid_t owner = getpid();
		if (in_thread)
			ended(started(holds_in_thread, NULL));
		else
			ends_well(owner = child(holds_it_three_times, NULL));
		CHECK(uscpsema(sema) == 0);
		FAILS(usvsema(sema), EPERM);
		struct timespec little = {0, 1000000};
		CHECK(uspsema_timed(sema, &little) == 0);
		CHECK(debug(sema).sd_owner_pid == owner);
		CHECK(ustestsema(sema) == 0);
		FAILS(usctlsema(sema, CS_RECURSIVEOFF), EINVAL);
		for (int thread = 0; thread < 20; thread++) /* whoever has its number one day is not the owner */
			ended(started(nothing_for_another, NULL));
		CHECK(usinitsema(sema, 1) == 0 && uspsema(sema) == 1 && usvsema(sema) == 0);
		usfreesema(sema, arena);
	}
}

static long counter;
static long depths;

static void *random_depths(void *seed)
{
	uint64_t random = (uintptr_t)seed;
	for (long time = rounds(3000); time > 0; time--) {
		int deep = (int)(next(&random) % 5) + 1;
		for (int level = 0; level < deep; level++) {
			CHECK(uspsema(sema) == 1);
			counter++;
		}
		depths += deep;
		for (int level = 0; level < deep; level++) {
			counter++;
			CHECK(usvsema(sema) == 0);
		}
		if (time % 16 == 0 && usvsema(sema) == 0) /* nobody's, or another's */
			CHECK(!"a V without a P");
	}
	return NULL;
}

static void many(uint64_t seed) /* K26 */
{
	pthread_t threads[3];
	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0 && usctlsema(sema, CS_METERON) == 0);
	for (uintptr_t which = 0; which < 3; which++)
		threads[which] = started(random_depths, (void *)(uintptr_t)(seed + which));
	for (int which = 0; which < 3; which++)
		ended(threads[which]);
	CHECK(counter == 2 * depths);
	CHECK(ustestsema(sema) == 1);
	CHECK(meter(sema).sm_psemas == depths && meter(sema).sm_vsemas == depths);
	usfreesema(sema, arena);
}

int main(int count, char **arguments)
{
	uint64_t seed = seed_of(count, arguments);
	arena = joined("recursive");
	depth();
	not_for_all();
	handed_over();
	the_owner_dies();
	many(seed);
	return 0;
}
