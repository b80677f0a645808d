/* Histories, operation by operation: all seven, each field of their records, and the chain. */
#define _GNU_SOURCE /* gettid */
#include "ulocks_test.h"

static usptr_t *arena;

static histptr_t chain(void)
{
	histptr_t now;
	CHECK(usconfig(CONF_HISTFETCH, arena, &now) == 0);
	return now;
}

/* The record that so many came after; the links of all are looked at. */
static hist_t *record(int from_newest)
{
	histptr_t now = chain();
	hist_t *found = NULL, *newer = NULL;
	int entries = 0;
	for (hist_t *each = now.hp_current; each; newer = each, each = each->h_next) {
		CHECK(each->h_last == newer);
		CHECK(!newer || newer->h_nsec >= each->h_nsec);
		if (entries++ == from_newest)
			found = each;
	}
	CHECK(entries == now.hp_entries);
	CHECK(found != NULL);
	return found;
}

static long long now_ns(void)
{
	struct timespec time;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* The newest one is this thread's, of this operation, with this count after it, and woke nobody. */
#define NEWEST_IS(sema, op, count)                                                                                     \
	do {                                                                                                           \
		hist_t *newest_ = record(0);                                                                           \
		if (newest_->h_op != (op) || newest_->h_scnt != (count))                                               \
			fprintf(stderr, "operation %d, count %d\n", newest_->h_op, newest_->h_scnt);                   \
		CHECK(newest_->h_sem == (sema) && newest_->h_op == (op) && newest_->h_scnt == (count));                \
		CHECK(newest_->h_pid == getpid() && newest_->h_tid == gettid());                                       \
		if ((op) != HOP_VWAKE)                                                                                 \
			CHECK(newest_->h_wpid <= 0 && newest_->h_wtid <= 0);                                           \
		CHECK(in_program(newest_->h_cpc));                                                                \
	} while (0)

extern char __executable_start[], etext[];
static int in_program(const char *pc) { return pc > __executable_start && pc < etext; }

static void alone(void)
{
	usema_t *sema = made(arena, 1);
	struct timespec little = {0, 1000};
	long long start = now_ns();

	CHECK(uspsema(sema) == 1);
	NEWEST_IS(sema, HOP_PHIT, 0);
	CHECK((long long)record(0)->h_nsec >= start && (long long)record(0)->h_nsec <= now_ns());
	CHECK(uscpsema(sema) == 0);
	NEWEST_IS(sema, HOP_PMISS, 0);
	CHECK(usvsema(sema) == 0);
	NEWEST_IS(sema, HOP_VNOWAIT, 1);
	CHECK(usvsema(sema) == 0);
	NEWEST_IS(sema, HOP_VNOWAIT, 2);
	CHECK(uscpsema(sema) == 1);
	NEWEST_IS(sema, HOP_PHIT, 1);
	CHECK(uspsema_timed(sema, &little) == 1);
	NEWEST_IS(sema, HOP_PHIT, 0);
	CHECK(chain().hp_entries == 6);
	CHECK(uspsema_timed(sema, &little) == 0);
	NEWEST_IS(sema, HOP_PTIMEOUT, 0);
	CHECK(chain().hp_entries == 7 || (chain().hp_entries == 8 && record(1)->h_op == HOP_PSLEEP));
	CHECK(ustestsema(sema) == 0);
	NEWEST_IS(sema, HOP_PTIMEOUT, 0);
	CHECK(record(chain().hp_entries - 1)->h_op == HOP_PHIT); /* the first one */
	usfreesema(sema, arena);
}

static pid_t waiter_tid;

static void *waits_for_it(void *sema)
{
	waiter_tid = gettid();
	CHECK(uspsema(sema) == 1);
	return NULL;
}

static void with_a_waiter(void)
{
	usema_t *sema = made(arena, 0);

	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	pthread_t thread = started(waits_for_it, sema);
	AWAIT(ustestsema(sema) == -1);
	hist_t *sleeps = record(0);
	CHECK(sleeps->h_op == HOP_PSLEEP && sleeps->h_scnt == -1);
	CHECK(sleeps->h_pid == getpid() && sleeps->h_tid == waiter_tid);
	CHECK(usvsema(sema) == 0);
	ended(thread);
	CHECK(chain().hp_entries == 3);
	hist_t *wakes = record(1);
	CHECK(wakes->h_op == HOP_VWAKE && wakes->h_scnt == 0 && wakes->h_tid == gettid());
	CHECK(wakes->h_wpid == getpid() && wakes->h_wtid == waiter_tid);
	hist_t *woke = record(0);
	CHECK(woke->h_op == HOP_PWOKE && woke->h_scnt == 0 && woke->h_tid == waiter_tid);
	CHECK(woke->h_cpc == record(2)->h_cpc && record(2)->h_op == HOP_PSLEEP);
	usfreesema(sema, arena);
}

/* Another process's waiter; the woken one's record shows the count when it runs, not when it was given the token. */
static void of_another_process(void)
{
	usema_t *sema = made(arena, 0);

	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	pid_t pid = child(waits_once, sema);
	AWAIT(ustestsema(sema) == -1);
	CHECK(record(0)->h_op == HOP_PSLEEP && record(0)->h_pid == pid && record(0)->h_tid == pid);
	CHECK(usvsema(sema) == 0);
	CHECK(usvsema(sema) == 0);
	ends_well(pid);
	CHECK(chain().hp_entries == 4);
	hist_t *wakes = record(2);
	CHECK(wakes->h_op == HOP_VWAKE && wakes->h_scnt == 0 && wakes->h_pid == getpid());
	CHECK(wakes->h_wpid == pid && wakes->h_wtid == pid);
	int ran_later = record(0)->h_op == HOP_PWOKE;
	hist_t *woke = record(!ran_later), *not_woke = record(ran_later);
	CHECK(woke->h_op == HOP_PWOKE && woke->h_pid == pid && woke->h_scnt == ran_later);
	CHECK(not_woke->h_op == HOP_VNOWAIT && not_woke->h_pid == getpid() && not_woke->h_scnt == 1);
	usfreesema(sema, arena);
}

static void nested(void)
{
	usema_t *sema = made(arena, 1);

	CHECK(usctlsema(sema, CS_RECURSIVEON) == 0);
	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	for (int depth = 0; depth < 3; depth++) {
		CHECK((depth == 1 ? uscpsema(sema) : uspsema(sema)) == 1);
		NEWEST_IS(sema, HOP_PHIT, 0);
	}
	for (int depth = 2; depth >= 0; depth--) {
		CHECK(usvsema(sema) == 0);
		NEWEST_IS(sema, HOP_VNOWAIT, depth == 0);
	}
	CHECK(chain().hp_entries == 6);
	FAILS(usvsema(sema), EPERM);
	CHECK(chain().hp_entries == 6); /* it was none */
	usfreesema(sema, arena);
}

/* One chain for all semaphores of the arena, in the order of what happened. */
static void one_chain(void)
{
	usema_t *semas[3] = {made(arena, 9), made(arena, 9), made(arena, 9)};

	CHECK(usconfig(CONF_HISTRESET, arena) == 0);
	for (int time = 0; time < 9; time++)
		CHECK((time % 2 ? usvsema(semas[time % 3]) : uspsema(semas[time % 3])) == (time % 2 ? 0 : 1));
	for (int time = 0; time < 9; time++) {
		CHECK(record(8 - time)->h_sem == semas[time % 3]);
		CHECK(record(8 - time)->h_op == (time % 2 ? HOP_VNOWAIT : HOP_PHIT));
	}
	for (int which = 0; which < 3; which++)
		usfreesema(semas[which], arena);
	CHECK(chain().hp_entries == 9); /* what has happened stays */
}

int main(void)
{
	arena = joined("history");
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	CHECK(chain().hp_entries == 0 && chain().hp_current == NULL);
	alone();
	with_a_waiter();
	of_another_process();
	nested();
	one_chain();
	return 0;
}
