/* usctlsema: every command, every error, and in which order the errors are looked for; K31, bad pointers a thousand times and
 * then normal use; K33, odd integers. */
#include <limits.h>

#include "ulocks_test.h"

static usptr_t *arena;

static const int commands[] = {CS_METERON, CS_METEROFF, CS_METERFETCH, CS_METERRESET, CS_DEBUGON, CS_DEBUGOFF,
			       CS_DEBUGFETCH, CS_DEBUGRESET, CS_HISTON, CS_HISTOFF, CS_RECURSIVEON, CS_RECURSIVEOFF};
#define COMMANDS (sizeof commands / sizeof *commands)

static void are_distinct(void)
{
	for (size_t one = 0; one < COMMANDS; one++)
		for (size_t other = 0; other < one; other++)
			CHECK(commands[one] != commands[other]);
}

static void no_command(void)
{
	static const int none[] = {-1, 0x7fff, 1000000, INT_MIN, INT_MAX};
	usema_t *sema = made(arena, 1);

	for (size_t which = 0; which < sizeof none / sizeof *none; which++) {
		FAILS(usctlsema(sema, none[which], BAD), EINVAL);
		FAILS(usctlsema(NULL, none[which], BAD), EINVAL);
	}
	CHECK(uspsema(sema) == 1 && uscpsema(sema) == 0 && usvsema(sema) == 0);
	usfreesema(sema, arena);
}

static void no_semaphore(usema_t *none)
{
	char memory[256] = {0};
	for (size_t which = 0; which < COMMANDS; which++)
		FAILS(usctlsema(none, commands[which], memory), EINVAL);
	for (size_t which = 0; which < sizeof memory; which++)
		CHECK(memory[which] == 0);
}

/* Addresses that are none of a semaphore: in the arena, in the program, in the kernel, nowhere. */
static void no_semaphores(void)
{
	usema_t *freed = made(arena, 1), *there = made(arena, 1);
	char *piece = usmalloc(4096, arena);
	usptr_t *other = joined("detached");
	usema_t *detached = made(other, 1);

	CHECK(piece != NULL);
	memset(piece, 0, 4096);
	usfreesema(freed, arena);
	usdetach(other);
	no_semaphore(NULL);
	no_semaphore(BAD);
	no_semaphore(freed);
	no_semaphore(detached);
	no_semaphore((usema_t *)piece);
	no_semaphore((usema_t *)(piece + 2048));
	no_semaphore((usema_t *)((char *)there + 1));
	no_semaphore((usema_t *)((char *)there + 4));
	no_semaphore((usema_t *)((char *)there + (1 << 30)));
	no_semaphore((usema_t *)0xffffffff80000000);
	no_semaphore((usema_t *)0x800000000000);
	no_semaphore((usema_t *)-8);
	CHECK(uspsema(there) == 1);
	usfreesema(there, arena);
	usfree(piece, arena);
}

static char *read_only(void)
{
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	return page;
}

/* A page and a half of which the buffer would need more. */
static char *almost(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
	return pages + 4096 - 8;
}

/* While off: EINVAL, before the buffer is looked at. While on: EFAULT; and then all is as it was. */
static void bad_buffers(void)
{
	usema_t *sema = made(arena, 1);
	char *cut = almost();
	void *buffers[] = {NULL, BAD, read_only(), cut, (void *)0xffffffff80000000, (void *)0xffff800000000000,
			   (void *)0x800000000000, (void *)-4};
	size_t count = sizeof buffers / sizeof *buffers;

	for (size_t which = 0; which < count; which++) {
		FAILS(usctlsema(sema, CS_METERFETCH, buffers[which]), EINVAL);
		FAILS(usctlsema(sema, CS_DEBUGFETCH, buffers[which]), EINVAL);
	}
	CHECK(usctlsema(sema, CS_METERON) == 0 && usctlsema(sema, CS_DEBUGON) == 0);
	CHECK(uspsema(sema) == 1);
	memset(cut, 7, 8);
	for (size_t time = 0; time < 1000; time++) { /* K31 */
		FAILS(usctlsema(sema, CS_METERFETCH, buffers[time % count]), EFAULT);
		FAILS(usctlsema(sema, CS_DEBUGFETCH, buffers[time % count]), EFAULT);
	}
	for (int at = 0; at < 8; at++)
		CHECK(cut[at] == 7);
	METER_IS(sema, 1, 1, 0, 0, 0, 0);
	CHECK(debug(sema).sd_owner_pid == getpid());
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 1, 1, 1, 1, 0, 0);
	usfreesema(sema, arena);
}

/* The same for the other calls with pointers. */
static void bad_pointers_elsewhere(void)
{
	int times = in_virtual_time() ? 100 : 1000;

	CHECK(usconfig(CONF_HISTON, arena) == 0);
	usema_t *sema = made(arena, 0);
	for (int time = 0; time < times; time++) {
		FAILS(usconfig(CONF_HISTFETCH, arena, BAD), EFAULT);
		FAILS(uspsema_timed(sema, BAD), EFAULT);
		FAILS_NULL(usnewsema(BAD, 1), EINVAL);
		FAILS(usinitsema(BAD, 1), EINVAL);
	}
	CHECK(usvsema(sema) == 0 && uspsema(sema) == 1);
	histptr_t chain;
	CHECK(usconfig(CONF_HISTFETCH, arena, &chain) == 0 && chain.hp_entries >= 2);
	CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	usfreesema(sema, arena);
}

struct flipped {
	usema_t *sema;
	volatile int stop;
	struct timespec time;
};

static void *flips(void *argument)
{
	struct flipped *flipped = argument;
	while (!flipped->stop) {
		((volatile struct timespec *)&flipped->time)->tv_nsec = 2000000000;
		((volatile struct timespec *)&flipped->time)->tv_nsec = 0;
	}
	return NULL;
}

/* K32: each call sees the one or the other, as a whole. */
static void checked_once(void)
{
	struct flipped flipped = {made(arena, 0), 0, {0, 0}};
	pthread_t flipper = started(flips, &flipped);

	for (long time = rounds(20000); time > 0; time--) {
		errno = 0;
		int result = uspsema_timed(flipped.sema, &flipped.time);
		CHECK(result == 0 || (result == -1 && errno == EINVAL));
	}
	flipped.stop = 1;
	ended(flipper);
	CHECK(ustestsema(flipped.sema) == 0);
	usfreesema(flipped.sema, arena);
}

int main(void)
{
	arena = joined("controlled");
	are_distinct();
	no_command();
	no_semaphores();
	bad_buffers();
	bad_pointers_elsewhere();
	checked_once();
	return 0;
}
