/* usconfig: what each command answers, and every error. */
#include <limits.h>

#include "ulocks_test.h"

static void sizes(void)
{
	CHECK(usconfig(CONF_INITSIZE, 4096) == 65536);
	usptr_t *least = joined("least");
	CHECK(usconfig(CONF_GETSIZE, least) == 4096);
	FAILS(usconfig(CONF_INITSIZE, 4095), EINVAL);
	FAILS(usconfig(CONF_INITSIZE, 0), EINVAL);
	FAILS(usconfig(CONF_INITSIZE, -1), EINVAL);
	FAILS(usconfig(CONF_INITSIZE, INT_MIN), EINVAL);
	FAILS(usconfig(CONF_INITSIZE, (1 << 30) + 1), EINVAL);
	CHECK(usconfig(CONF_INITSIZE, 1 << 30) == 4096); /* none of the errors changed it */
	CHECK(usconfig(CONF_GETSIZE, joined("least")) == 4096); /* who joins does not change it */
	CHECK(usconfig(CONF_INITSIZE, 65536) == 1 << 30);
	usptr_t *usual = joined("usual");
	CHECK(usconfig(CONF_GETSIZE, usual) == 65536);
	usdetach(least);
	usdetach(usual);
}

/* Where the machine has no memory for it, that is an error; else all of it can be used. */
static void a_great_one(void)
{
	CHECK(usconfig(CONF_INITSIZE, 1 << 30) == 65536);
	usptr_t *great = usinit("greatest");
	CHECK(great != NULL || errno == ENOMEM);
	if (great)
		usdetach(great);
	CHECK(usconfig(CONF_INITSIZE, 1 << 24) == 1 << 30);
	great = joined("great");
	CHECK(usconfig(CONF_INITSIZE, 65536) == 1 << 24);
	CHECK(usconfig(CONF_GETSIZE, great) == 1 << 24);
	char *piece = usmalloc(1 << 20, great);
	CHECK(piece != NULL);
	memset(piece, 1, 1 << 20);
	usfree(piece, great);
	usdetach(great);
}

static void users(void)
{
	CHECK(usconfig(CONF_INITUSERS, 10000) == 8);
	usptr_t *arena = joined("many");
	CHECK(usconfig(CONF_GETUSERS, arena) == 10000);
	FAILS(usconfig(CONF_INITUSERS, 10001), EINVAL);
	FAILS(usconfig(CONF_INITUSERS, 0), EINVAL);
	FAILS(usconfig(CONF_INITUSERS, -1), EINVAL);
	FAILS(usconfig(CONF_INITUSERS, INT_MAX), EINVAL);
	CHECK(usconfig(CONF_INITUSERS, 8) == 10000);
	usdetach(arena);
}

static void kinds(void)
{
	CHECK(US_GENERAL == 0 && US_SHAREDONLY == 1);
	CHECK(usconfig(CONF_ARENATYPE, US_SHAREDONLY) == US_GENERAL);
	FAILS(usconfig(CONF_ARENATYPE, 2), EINVAL);
	FAILS(usconfig(CONF_ARENATYPE, -1), EINVAL);
	CHECK(usconfig(CONF_ARENATYPE, US_GENERAL) == US_SHAREDONLY);
}

static const int of_arena[] = {CONF_GETSIZE,  CONF_GETUSERS,   CONF_HISTON,   CONF_HISTOFF,
			       CONF_HISTSIZE, CONF_HISTFETCH, CONF_HISTRESET};

/* Every command that is about an arena: none, none there, one that is gone. */
static void no_arena(void)
{
	histptr_t chain;
	usptr_t *gone = joined("gone");

	CHECK(usconfig(CONF_HISTON, gone) == 0);
	usdetach(gone);
	for (size_t which = 0; which < sizeof of_arena / sizeof *of_arena; which++) {
		FAILS(usconfig(of_arena[which], NULL, &chain), EINVAL);
		FAILS(usconfig(of_arena[which], BAD, &chain), EINVAL);
		FAILS(usconfig(of_arena[which], (void *)&chain, &chain), EINVAL);
		FAILS(usconfig(of_arena[which], (void *)0x8000000000000000, &chain), EINVAL);
		FAILS(usconfig(of_arena[which], gone, &chain), EINVAL);
	}
}

static void no_command(usptr_t *arena)
{
	static const int none[] = {-1, INT_MIN, INT_MAX, 1000, 0x7fff};

	for (size_t which = 0; which < sizeof none / sizeof *none; which++) {
		FAILS(usconfig(none[which], arena, BAD), EINVAL);
		FAILS(usconfig(none[which], NULL), EINVAL);
	}
}

static void history(usptr_t *arena)
{
	histptr_t chain = {(void *)7, 7, 7};

	FAILS(usconfig(CONF_HISTFETCH, arena, &chain), EINVAL); /* it is off at first */
	FAILS(usconfig(CONF_HISTFETCH, arena, BAD), EINVAL);    /* that first */
	CHECK(chain.hp_current == (void *)7 && chain.hp_entries == 7 && chain.hp_errors == 7);
	CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	CHECK(usconfig(CONF_HISTSIZE, arena, 5) == 0);
	FAILS(usconfig(CONF_HISTSIZE, arena, -1), EINVAL);
	FAILS(usconfig(CONF_HISTSIZE, arena, INT_MIN), EINVAL);
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	FAILS(usconfig(CONF_HISTFETCH, arena, NULL), EFAULT);
	FAILS(usconfig(CONF_HISTFETCH, arena, BAD), EFAULT);
	CHECK(usconfig(CONF_HISTFETCH, arena, &chain) == 0);
	CHECK(chain.hp_current == NULL && chain.hp_entries == 0 && chain.hp_errors == 0);
	CHECK(usconfig(CONF_HISTSIZE, arena, 0) == 0);
	CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	FAILS(usconfig(CONF_HISTFETCH, arena, &chain), EINVAL);
}

static void published(usptr_t *arena)
{
	CHECK(usgetinfo(arena) == NULL);
	CHECK(usputinfo(arena, (void *)1) == 0);
	CHECK(usgetinfo(arena) == (void *)1);
	CHECK(uscasinfo(arena, (void *)2, (void *)3) == 0);
	CHECK(usgetinfo(arena) == (void *)1);
	CHECK(uscasinfo(arena, (void *)1, (void *)-1) == 1);
	CHECK(usgetinfo(arena) == (void *)-1);
	CHECK(uscasinfo(arena, (void *)-1, NULL) == 1);
	CHECK(usgetinfo(arena) == NULL);
}

int main(void)
{
	sizes();
	a_great_one();
	users();
	kinds();
	no_arena();
	usptr_t *arena = joined("configured");
	no_command(arena);
	history(arena);
	published(arena);
	return 0;
}
