/* K24: semaphores that are freed or begun anew under waiters: those end with EIDRM; an old pointer is EINVAL until its place
 * is used again, which is as late as can be, and never as memory. */
#include "ulocks_test.h"

#define WAITERS 4
#define PLACES 4096

static usptr_t *arena;

static void *is_removed(void *sema)
{
	FAILS(uspsema(sema), EIDRM);
	return NULL;
}

static void is_removed_in_child(void *sema) { is_removed(sema); }

static void *is_removed_in_time(void *sema)
{
	struct timespec long_time = {1000, 0};
	FAILS(uspsema_timed(sema, &long_time), EIDRM);
	return NULL;
}

static void all_waiters_are_removed(int anew, int instrument)
{
	pthread_t threads[WAITERS];
	usema_t *sema = made(arena, 0);

	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	for (int number = 0; number < WAITERS; number++)
		threads[number] = started(number % 2 ? is_removed : is_removed_in_time, sema);
	pid_t other = child(is_removed_in_child, sema);
	AWAIT(ustestsema(sema) == -WAITERS - 1);
	if (anew) {
		CHECK(usinitsema(sema, 2) == 0);
		CHECK(ustestsema(sema) == 2); /* the tokens are nobody's who waited before */
	} else {
		usfreesema(sema, arena);
		FAILS(usvsema(sema), EINVAL);
	}
	for (int number = 0; number < WAITERS; number++)
		ended(threads[number]);
	ends_well(other);
	if (anew) {
		CHECK(ustestsema(sema) == 2);
		usfreesema(sema, arena);
	}
}

/* Count 1 and nobody waiting, or everything taken: it goes. */
static void free_ones_go(void)
{
	usema_t *sema = made(arena, 1);
	usfreesema(sema, arena);
	FAILS(uscpsema(sema), EINVAL);
	sema = made(arena, 1);
	CHECK(uspsema(sema) == 1);
	usfreesema(sema, arena);
	FAILS(usvsema(sema), EINVAL);
	usfreesema(sema, arena); /* twice: nothing happens */
	usfreesema(NULL, arena);
	usfreesema(BAD, arena);
}

/* Freed into an arena that it is not of: nothing happens. */
static void of_another_arena(void)
{
	usptr_t *other = joined("another");
	usema_t *sema = made(arena, 1);

	usfreesema(sema, other);
	usfreesema(sema, NULL);
	CHECK(uspsema(sema) == 1 && usvsema(sema) == 0);
	usfreesema(sema, arena);
	FAILS(uspsema(sema), EINVAL);
	usdetach(other);
}

static int is_new(usema_t *const *places, int count, const usema_t *sema)
{
	for (int place = 0; place < count; place++)
		if (places[place] == sema)
			return 0;
	return 1;
}

/* A place is used again only when there are no others; each of them is then as good as new. */
static void places_are_used_late(void)
{
	static usema_t *places[PLACES];
	usptr_t *small = joined("small");
	int count = 0;
	usema_t *sema;

	while (count < PLACES && (sema = usnewsema(small, 1)) != NULL && is_new(places, count, sema)) {
		places[count++] = sema;
		CHECK(uspsema(sema) == 1);
		usfreesema(sema, small);
		FAILS(usvsema(sema), EINVAL);
	}
	CHECK(sema == places[0]); /* the one that was freed first */
	CHECK(ustestsema(sema) == 1);
	CHECK(count * 512 >= 65536); /* until then there was no room for another; none takes so much */
	usdetach(small);
}

/* As many at once as there is room for; freed, then as many again; no place is handed out as memory. */
static void places_are_never_memory(void)
{
	static usema_t *places[PLACES];
	usptr_t *small = joined("small");
	int count = 0, again = 0;

	while (count < PLACES && (places[count] = usnewsema(small, 1)) != NULL)
		count++;
	CHECK(count > 16 && count < PLACES && errno == ENOMEM);
	for (int place = 0; place < count; place++)
		usfreesema(places[place], small);
	char *piece;
	while ((piece = usmalloc(64, small)) != NULL) {
		for (int place = 0; place < count; place++)
			CHECK((char *)places[place] + 16 <= piece || (char *)places[place] >= piece + 64);
		memset(piece, 0xff, 64);
	}
	for (int place = 0; place < count; place++)
		FAILS(usvsema(places[place]), EINVAL);
	while ((places[0] = usnewsema(small, 1)) != NULL) {
		again++;
		CHECK(ustestsema(places[0]) == 1);
	}
	CHECK(again == count);
	usdetach(small);
}

int main(void)
{
	arena = joined("removed");
	for (int anew = 0; anew < 2; anew++) {
		all_waiters_are_removed(anew, 0);
		all_waiters_are_removed(anew, CS_METERON);
		all_waiters_are_removed(anew, CS_DEBUGON);
	}
	free_ones_go();
	of_another_arena();
	places_are_used_late();
	places_are_never_memory();
	return 0;
}
