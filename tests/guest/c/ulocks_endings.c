/* Processes that end or become another program while LWPs of theirs wait, own, or have arenas: all figures follow. */
#include "ulocks_test.h"

#define WAITERS 5

static usptr_t *arena;
static usema_t *sema;
static const char *own_path;
static int queued_before_it_ends = WAITERS;

static void *waits_in_vain(void *unused)
{
	uspsema(sema);
	CHECK(!"it was not to get one");
	return unused;
}

static void waiters_then(void (*end)(void))
{
	for (int which = 0; which < WAITERS; which++)
		started(waits_in_vain, NULL);
	AWAIT(ustestsema(sema) == -queued_before_it_ends);
	end();
}

static void exits(void) { _exit(0); }

/* The new program looks that it has nothing of the old one's arenas. */
static void becomes_another(void)
{
	execl(own_path, own_path, "another", (char *)NULL);
	CHECK(!"execl came back");
}

static void ends_by(void *end) { waiters_then(*(void (**)(void))end); }

static void all_have_left(void (*end)(void), int instrument)
{
	sema = made(arena, 0);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	in_child(ends_by, &end);
	CHECK(ustestsema(sema) == 0);
	METER_IS(sema, 0, WAITERS, 0, 0, 0, meter(sema).sm_maxnwait);
	CHECK(meter(sema).sm_maxnwait <= WAITERS && meter(sema).sm_maxnwait >= 1);
	CHECK(usvsema(sema) == 0);
	CHECK(ustestsema(sema) == 1); /* given to none of them */
	CHECK(uspsema(sema) == 1);
	usfreesema(sema, arena);
}

/* One of them queues behind those that go. */
static void who_stays_is_served(void (*end)(void))
{
	sema = made(arena, 0);
	queued_before_it_ends = WAITERS + 1;
	pid_t first = child(ends_by, &end);
	queued_before_it_ends = WAITERS;
	AWAIT(ustestsema(sema) == -WAITERS);
	pthread_t last = started(waits, sema);
	ends_well(first);
	AWAIT(ustestsema(sema) == -1);
	CHECK(usvsema(sema) == 0);
	CHECK(ended(last) == 1);
	usfreesema(sema, arena);
}

/* The process lets go of the arena while LWPs of it wait in it, and ends. */
static void detaches_under_them(void *unused)
{
	(void)unused;
	started(waits_in_vain, NULL);
	AWAIT(ustestsema(sema) == -1);
	CHECK(usdetach(arena) == 0);
}

static void detached(void)
{
	sema = made(arena, 0);
	in_child(detaches_under_them, NULL);
	CHECK(ustestsema(sema) == 0);
	CHECK(usvsema(sema) == 0 && ustestsema(sema) == 1);
	usfreesema(sema, arena);
}

/* Run as another program: the arena's address is nothing here, and its name is free to join. */
static int another(void)
{
	usptr_t *found = usinit("endings");
	CHECK(found != NULL);
	CHECK(usgetinfo(found) == (void *)4711);
	return 0;
}

int main(int count, char **arguments)
{
	if (count > 1 && !strcmp(arguments[1], "another"))
		return another();
	own_path = arguments[0];
	arena = joined("endings");
	CHECK(usputinfo(arena, (void *)4711) == 0);
	all_have_left(exits, 0);
	all_have_left(exits, CS_DEBUGON);
	who_stays_is_served(exits);
	all_have_left(becomes_another, 0);
	all_have_left(becomes_another, CS_DEBUGON);
	who_stays_is_served(becomes_another);
	detached();
	return 0;
}
