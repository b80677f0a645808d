/* An arena that is full, at every point where something is taken from it: ENOMEM, nothing changed, nothing lost; and what was
 * given back can be had again. */
#include "ulocks_test.h"

static usptr_t *arena;
static void *pieces;

/* Takes all that is left, down to the smallest piece. */
static void fill(void)
{
	for (size_t size = 32768; size >= 16; size /= 2) {
		void **piece;
		while ((piece = usmalloc(size, arena)) != NULL) {
			*piece = pieces;
			pieces = piece;
		}
		CHECK(errno == ENOMEM);
	}
}

static void empty(void)
{
	while (pieces) {
		void *next = *(void **)pieces;
		usfree(pieces, arena);
		pieces = next;
	}
}

/* Switches this on at as many semaphores as there is room for; how many that were. */
static int on_at(usema_t **semas, int count, int command, int fetch)
{
	semameter_t meter;
	semadebug_t debug;
	for (int which = 0; which < count; which++) {
		if (usctlsema(semas[which], command) == 0)
			continue;
		CHECK(errno == ENOMEM);
		FAILS(usctlsema(semas[which], fetch, fetch == CS_METERFETCH ? (void *)&meter : (void *)&debug), EINVAL);
		CHECK(ustestsema(semas[which]) == 1);
		CHECK(uspsema(semas[which]) == 1 && usvsema(semas[which]) == 0);
		return which;
	}
	return count;
}

#define SEMAS 100
static usema_t *semas[SEMAS];

static void instruments(int on, int off, int fetch)
{
	arena = joined("full");
	for (int which = 0; which < SEMAS; which++)
		semas[which] = made(arena, 1);
	fill();
	while (usnewsema(arena, 1) != NULL)
		; /* what places were left */
	CHECK(errno == ENOMEM);
	int without_room = on_at(semas, SEMAS, on, fetch);
	CHECK(without_room < SEMAS); /* they come out of the arena's size */
	for (int which = 0; which < without_room; which++)
		CHECK(usctlsema(semas[which], off) == 0);
	CHECK(on_at(semas, SEMAS, on, fetch) == without_room); /* what was given back can be had again */
	empty();
	CHECK(on_at(semas, SEMAS, on, fetch) == SEMAS);
	for (int which = 0; which < SEMAS; which++)
		usfreesema(semas[which], arena); /* with what was on */
	usdetach(arena);
}

static void *waits_and_gives(void *sema)
{
	CHECK(uspsema(sema) == 1);
	CHECK(usvsema(sema) == 0);
	return NULL;
}

/* Waiting and waking want nothing from the arena, with instruments that are on already or off. */
static void waits_without_room(int instrument)
{
	usema_t *sema = made(arena, 0);
	pthread_t threads[8];

	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	fill();
	for (int which = 0; which < 8; which++)
		threads[which] = started(waits_and_gives, sema);
	AWAIT(ustestsema(sema) == -8);
	CHECK(usvsema(sema) == 0);
	for (int which = 0; which < 8; which++)
		ended(threads[which]);
	CHECK(ustestsema(sema) == 1);
	CHECK(usinitsema(sema, 1) == 0);
	CHECK(ustestsema(sema) == 1);
	empty();
	usfreesema(sema, arena);
}

/* Records that have no room are counted; the operations are done. */
static void records_without_room(void)
{
	usema_t *sema = made(arena, 1);
	histptr_t chain;

	fill();
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	CHECK(usctlsema(sema, CS_HISTON) == 0);
	for (int time = 0; time < 2000; time++)
		CHECK(uspsema(sema) == 1 && usvsema(sema) == 0);
	CHECK(usconfig(CONF_HISTFETCH, arena, &chain) == 0);
	CHECK(chain.hp_entries + chain.hp_errors == 4000);
	CHECK(chain.hp_errors > 0);
	int before = chain.hp_entries;
	empty();
	for (int time = 0; time < 100; time++)
		CHECK(uspsema(sema) == 1 && usvsema(sema) == 0);
	CHECK(usconfig(CONF_HISTFETCH, arena, &chain) == 0);
	CHECK(chain.hp_entries == before + 200); /* there is room again */
	CHECK(chain.hp_current->h_op == HOP_VNOWAIT);
	CHECK(usconfig(CONF_HISTRESET, arena) == 0 && usconfig(CONF_HISTOFF, arena) == 0);
	usfreesema(sema, arena);
}

/* The smallest arena is of some use too. */
static void the_smallest(void)
{
	usptr_t *usual = arena;
	CHECK(usconfig(CONF_INITSIZE, 4096) == 65536);
	arena = joined("smallest");
	CHECK(usconfig(CONF_INITSIZE, 65536) == 4096);
	usema_t *sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	fill();
	CHECK(uspsema(sema) == 1 && usvsema(sema) == 0);
	METER_IS(sema, 1, 1, 1, 1, 0, 0);
	empty();
	usfreesema(sema, arena);
	usdetach(arena);
	arena = usual;
}

int main(void)
{
	instruments(CS_METERON, CS_METEROFF, CS_METERFETCH);
	instruments(CS_DEBUGON, CS_DEBUGOFF, CS_DEBUGFETCH);
	arena = joined("full");
	waits_without_room(0);
	waits_without_room(CS_METERON);
	waits_without_room(CS_DEBUGON);
	records_without_room();
	the_smallest();
	return 0;
}
