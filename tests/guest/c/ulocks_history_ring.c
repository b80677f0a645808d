/* Which operations a history has: the two flags, the bound, records that are lost, RESET, and snapshots. */
#include "ulocks_test.h"

static usptr_t *arena;
static usema_t *sema;

static histptr_t chain(void)
{
	histptr_t now;
	CHECK(usconfig(CONF_HISTFETCH, arena, &now) == 0);
	int entries = 0;
	for (hist_t *each = now.hp_current; each; each = each->h_next)
		entries++;
	CHECK(entries == now.hp_entries);
	return now;
}

#define CHAIN_IS(entries, errors)                                                                                      \
	do {                                                                                                           \
		histptr_t now_ = chain();                                                                              \
		if (now_.hp_entries != (entries) || now_.hp_errors != (errors))                                        \
			fprintf(stderr, "%d entries, %d errors\n", now_.hp_entries, now_.hp_errors);                   \
		CHECK(now_.hp_entries == (entries) && now_.hp_errors == (errors));                                     \
	} while (0)

static void operate(int times)
{
	for (int time = 0; time < times; time++)
		CHECK((time % 2 ? usvsema(sema) : uspsema(sema)) >= 0);
}

/* Both must be on; semaphores that are made while the arena's is on have theirs on. */
static void two_flags(void)
{
	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_HISTON) == 0);
	operate(2);
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	CHAIN_IS(0, 0);
	operate(2);
	CHAIN_IS(2, 0);
	CHECK(usctlsema(sema, CS_HISTOFF) == 0 && usctlsema(sema, CS_HISTOFF) == 0);
	operate(2);
	CHAIN_IS(2, 0);
	usema_t *flagged = sema;
	sema = made(arena, 1);
	operate(2); /* on from the start */
	CHAIN_IS(4, 0);
	CHECK(usctlsema(flagged, CS_HISTON) == 0 && usctlsema(flagged, CS_HISTON) == 0);
	CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	operate(2);
	usfreesema(sema, arena);
	sema = made(arena, 1); /* off from the start */
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	operate(2);
	CHAIN_IS(4, 0); /* off kept what there was */
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	CHAIN_IS(0, 0);
	usfreesema(flagged, arena);
	usfreesema(sema, arena);
}

static void bounded(void)
{
	sema = made(arena, 1);
	CHECK(usconfig(CONF_HISTSIZE, arena, 5) == 0);
	operate(4);
	CHAIN_IS(4, 0);
	operate(4);
	CHAIN_IS(5, 3); /* the oldest went */
	CHECK(chain().hp_current->h_op == HOP_VNOWAIT);
	CHECK(usconfig(CONF_HISTSIZE, arena, 2) == 0);
	CHAIN_IS(2, 6); /* those that are dropped are counted too */
	CHECK(chain().hp_current->h_op == HOP_VNOWAIT && chain().hp_current->h_next->h_op == HOP_PHIT);
	CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	CHAIN_IS(2, 6);
	CHECK(usconfig(CONF_HISTSIZE, arena, 7) == 0);
	operate(6);
	CHAIN_IS(7, 7);
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	CHAIN_IS(0, 0);
	operate(8);
	CHAIN_IS(7, 1); /* the bound stays */
	CHECK(usconfig(CONF_HISTSIZE, arena, 1) == 0);
	operate(2);
	CHAIN_IS(1, 9);
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	usfreesema(sema, arena);
}

/* Without a bound: until the arena is full, then the oldest goes; the operations themselves never fail. */
static void until_it_is_full(void)
{
	sema = made(arena, 1);
	CHECK(usconfig(CONF_HISTSIZE, arena, 0) == 0);
	operate(4000);
	histptr_t now = chain();
	CHECK(now.hp_entries > 100 && now.hp_entries < 4000);
	CHECK(now.hp_entries + now.hp_errors == 4000);
	FAILS_NULL(usmalloc(32768, arena), ENOMEM); /* the arena's memory is what they took */
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	CHAIN_IS(0, 0);
	void *piece = usmalloc(32768, arena); /* and is given back */
	CHECK(piece != NULL);
	usfree(piece, arena);
	usfreesema(sema, arena);
}

/* A snapshot is a process's own, until it fetches again. */
static void fetches_too(void *unused)
{
	(void)unused;
	operate(2);
	CHAIN_IS(6, 0);
	memset(chain().hp_current, 0xff, sizeof(hist_t)); /* harms nobody else */
}

static void snapshots(void)
{
	sema = made(arena, 1);
	operate(4);
	histptr_t before = chain();
	in_child(fetches_too, NULL);
	operate(2);
	int op = HOP_VNOWAIT, entries = 0;
	for (hist_t *each = before.hp_current; each; each = each->h_next, entries++) {
		CHECK(each->h_op == op && each->h_sem == sema);
		op = op == HOP_PHIT ? HOP_VNOWAIT : HOP_PHIT;
	}
	CHECK(entries == 4);
	CHAIN_IS(8, 0);
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	usfreesema(sema, arena);
}

static void *operates(void *times)
{
	for (intptr_t time = 0; time < (intptr_t)times; time++)
		CHECK(uspsema(sema) == 1 && usvsema(sema) == 0);
	return NULL;
}

/* From the oldest on, every record's count follows from the one before: the order is the true one. */
static void follows(const histptr_t *now, int count)
{
	hist_t *each = now->hp_current;
	if (!each)
		return;
	while (each->h_next)
		each = each->h_next;
	if (now->hp_errors)
		count = each->h_scnt, each = each->h_last;
	for (; each; each = each->h_last) {
		if (each->h_op == HOP_PHIT)
			count = count - 1;
		else if (each->h_op == HOP_PSLEEP)
			count = count > 0 ? -1000 : count - 1;
		else if (each->h_op == HOP_VNOWAIT || each->h_op == HOP_VWAKE)
			count = count + 1;
		CHECK(each->h_scnt == count);
		CHECK((each->h_op == HOP_VWAKE) == (each->h_wtid > 0));
	}
}

/* Under load: a true order at every fetch, and no record lost but those that are counted. */
static void in_true_order(void)
{
	long times = rounds(4000);
	pthread_t threads[4];

	CHECK(usconfig(CONF_HISTSIZE, arena, 300) == 0);
	sema = made(arena, 2);
	for (int which = 0; which < 4; which++)
		threads[which] = started(operates, (void *)times);
	for (int time = 0; time < 50; time++) {
		histptr_t now = chain();
		follows(&now, 2);
		doze(100000);
	}
	for (int which = 0; which < 4; which++)
		ended(threads[which]);
	histptr_t last = chain();
	follows(&last, 2);
	CHECK(last.hp_entries == 300);
	CHECK(last.hp_entries + last.hp_errors >= 8 * times); /* a P that slept has two records */
	CHECK(ustestsema(sema) == 2);
	usfreesema(sema, arena);
}

int main(void)
{
	arena = joined("history");
	two_flags();
	bounded();
	until_it_is_full();
	snapshots();
	in_true_order();
	return 0;
}
