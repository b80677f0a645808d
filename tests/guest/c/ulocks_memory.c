/*
 * usmalloc and usfree: pieces are whole, apart, inside of the arena; what is freed can be had again; processes that use one
 * arena at once, and are killed in the middle of it, leave the others able to go on.
 */
#include "ulocks_test.h"

#define PIECES 64

static int is_filled(const unsigned char *piece, size_t size, int value)
{
	for (size_t at = 0; at < size; at++)
		if (piece[at] != (unsigned char)value)
			return 0;
	return 1;
}

/* As many of this size as there are; the number. */
static long all_of(usptr_t *arena, size_t size, void **last)
{
	long number = 0;
	void *piece;
	while ((piece = usmalloc(size, arena)) != NULL) {
		memset(piece, 0xa5, size);
		*(void **)piece = *last;
		*last = piece;
		number++;
	}
	CHECK(errno == ENOMEM);
	return number;
}

static void free_all(usptr_t *arena, void *last)
{
	while (last) {
		void *before = *(void **)last;
		usfree(last, arena);
		last = before;
	}
}

/* A full arena says so, and all of it is there again afterwards; in pieces of any size. */
static void full_and_empty(void)
{
	static const size_t sizes[] = {16, 4000, 24, 100, 20000, 8};
	usptr_t *arena = joined("full and empty");
	void *great = NULL;
	size_t most = 65536;

	while (most && (great = usmalloc(most, arena)) == NULL)
		most -= 8;
	CHECK(most > 65536 / 2); /* most of it is the program's */
	usfree(great, arena);
	for (size_t which = 0; which < sizeof sizes / sizeof *sizes; which++) {
		void *last = NULL, *again = NULL;
		long number = all_of(arena, sizes[which], &last);
		CHECK((size_t)number * sizes[which] >= 65536 / 8);
		CHECK((size_t)number * sizes[which] <= 65536);
		free_all(arena, last);
		CHECK(all_of(arena, sizes[which], &again) == number);
		free_all(arena, again);
	}
	CHECK((great = usmalloc(most, arena)) != NULL); /* nothing is in small pieces */
	memset(great, 1, most);
	usdetach(arena);
}

static void errors(usptr_t *arena)
{
	FAILS_NULL(usmalloc(65537, arena), ENOMEM);
	FAILS_NULL(usmalloc((size_t)-1, arena), ENOMEM);
	FAILS_NULL(usmalloc((size_t)-16, arena), ENOMEM);
	FAILS_NULL(usmalloc((size_t)1 << 63, arena), ENOMEM);
	FAILS_NULL(usmalloc(16, NULL), EINVAL);
	FAILS_NULL(usmalloc(16, BAD), EINVAL);
	usfree(NULL, arena);
	/* None of these is a piece of the arena: nothing comes of it. */
	char *piece = usmalloc(64, arena);
	CHECK(piece != NULL);
	memset(piece, 3, 64);
	usfree(piece + 8, arena);
	usfree(piece + 16, arena);
	usfree(BAD, arena);
	usfree(&piece, arena);
	usfree(made(arena, 1), arena);
	usfree(piece, NULL);
	CHECK(is_filled((unsigned char *)piece, 64, 3));
	char *other = usmalloc(64, arena);
	CHECK(other != NULL && (other >= piece + 64 || piece >= other + 64));
	usfree(piece, arena);
	usfree(piece, arena); /* twice */
	char *third = usmalloc(64, arena), *fourth = usmalloc(64, arena);
	CHECK(third && fourth && (third >= fourth + 64 || fourth >= third + 64));
	CHECK((uintptr_t)third % 16 == 0 && (uintptr_t)fourth % 16 == 0);
}

/* Pieces of random sizes, each filled with the owner's number as long as it has it. */
static void takes_and_gives(usptr_t *arena, uint64_t random, int owner, long times)
{
	unsigned char *pieces[PIECES] = {NULL};
	size_t sizes[PIECES];

	while (times-- != 0) {
		unsigned which = next(&random) % PIECES;
		if (pieces[which]) {
			CHECK(is_filled(pieces[which], sizes[which], owner));
			usfree(pieces[which], arena);
			pieces[which] = NULL;
		} else if ((pieces[which] = usmalloc(sizes[which] = next(&random) % 700 + 1, arena)) != NULL) {
			memset(pieces[which], owner, sizes[which]);
		}
	}
	for (unsigned which = 0; which < PIECES; which++)
		usfree(pieces[which], arena);
}

static usptr_t *shared;
static uint64_t seed;

static void *one_thread(void *owner)
{
	takes_and_gives(shared, seed + (uintptr_t)owner, (int)(intptr_t)owner, rounds(10000));
	return NULL;
}

static void for_ever(void *owner) { takes_and_gives(shared, seed + (uintptr_t)owner, (int)(intptr_t)owner, -1); }

static void at_once(void)
{
	pthread_t threads[4];
	for (intptr_t owner = 0; owner < 4; owner++)
		threads[owner] = started(one_thread, (void *)(owner + 1));
	for (int owner = 0; owner < 4; owner++)
		ended(threads[owner]);
}

static void killed_in_the_middle(void)
{
	uint64_t random = seed;
	for (int time = 0; time < 20; time++) {
		pid_t children[2] = {child(for_ever, (void *)11), child(for_ever, (void *)12)};
		doze((long)(next(&random) % 3000000));
		is_killed(children[0]);
		takes_and_gives(shared, seed, 13, 50);
		is_killed(children[1]);
		takes_and_gives(shared, seed, 14, 50);
	}
}

int main(int count, char **arguments)
{
	seed = seed_of(count, arguments);
	full_and_empty();
	errors(joined("errors"));
	usconfig(CONF_INITSIZE, 1 << 20); /* what the killed leave is not given back */
	shared = joined("shared");
	at_once();
	killed_in_the_middle();
	return 0;
}
