/* The meter is exact: LWPs on all CPUs lose no count, and its laws hold at every fetch meanwhile. Arguments: SEED LWPS. */
#include "ulocks_test.h"

#define MOST 16
#define TOKENS 3

struct worker {
	uint64_t random;
	long times, psemas, vsemas, got;
};

static usptr_t *arena;
static usema_t *sema;
static int running;

/* Takes and gives back, by each kind of P. */
static void *works(void *argument)
{
	struct worker *worker = argument;
	for (long time = 0; time < worker->times; time++) {
		struct timespec little = {0, (long)(next(&worker->random) % 20000)};
		unsigned kind = next(&worker->random) % 8;
		int result = kind == 0 ? uscpsema(sema) : kind == 1 ? uspsema_timed(sema, &little) : uspsema(sema);
		CHECK(result == 1 || (result == 0 && kind < 2));
		worker->psemas++;
		if (result == 0)
			continue;
		worker->got++;
		CHECK(usvsema(sema) == 0);
		worker->vsemas++;
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* One consistent moment, and none before the last one. */
static void obeys(const semameter_t *now, const semameter_t *before, int lwps)
{
	CHECK(0 <= now->sm_phits && now->sm_phits <= now->sm_psemas);
	CHECK(0 <= now->sm_vnowait && now->sm_vnowait <= now->sm_vsemas);
	CHECK(0 <= now->sm_nwait && now->sm_nwait <= now->sm_maxnwait && now->sm_maxnwait <= lwps);
	CHECK(now->sm_phits >= before->sm_phits && now->sm_psemas >= before->sm_psemas);
	CHECK(now->sm_vsemas >= before->sm_vsemas && now->sm_vnowait >= before->sm_vnowait);
	CHECK(now->sm_maxnwait >= before->sm_maxnwait);
	/* V's that woke one: so many P's have waited and got theirs, and they are among those that did not get it at once. */
	int handed = now->sm_vsemas - now->sm_vnowait;
	CHECK(handed + now->sm_phits + now->sm_nwait <= now->sm_psemas);
	/* tokens = initial + V's - acquisitions, between nothing and all of them */
	int tokens = TOKENS + now->sm_vnowait - now->sm_phits;
	CHECK(0 <= tokens && tokens <= TOKENS);
	CHECK(now->sm_nwait == 0 || tokens == 0);
}

static void under_load(uint64_t seed, int lwps, int other_instrument)
{
	struct worker workers[MOST];
	pthread_t threads[MOST];
	semameter_t before = {0, 0, 0, 0, 0, 0};
	struct worker all = {0, 0, 0, 0, 0};

	sema = made(arena, TOKENS);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	if (other_instrument)
		CHECK(usctlsema(sema, other_instrument) == 0);
	running = lwps;
	long times = at_full_length() ? 100000 : rounds(100000) / lwps;
	for (int which = 0; which < lwps; which++) {
		workers[which] = (struct worker){seed + (unsigned)which, times, 0, 0, 0};
		threads[which] = started(works, &workers[which]);
	}
	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST)) {
		semameter_t now = meter(sema);
		obeys(&now, &before, lwps);
		before = now;
		if (in_virtual_time())
			doze(20000);
	}
	for (int which = 0; which < lwps; which++) {
		ended(threads[which]);
		all.psemas += workers[which].psemas;
		all.vsemas += workers[which].vsemas;
		all.got += workers[which].got;
	}
	semameter_t last = meter(sema);
	CHECK(last.sm_psemas == all.psemas);
	CHECK(last.sm_vsemas == all.vsemas);
	CHECK(last.sm_phits + last.sm_vsemas - last.sm_vnowait == all.got);
	CHECK(last.sm_nwait == 0);
	CHECK(ustestsema(sema) == TOKENS);
	usfreesema(sema, arena);
}

int main(int count, char **arguments)
{
	uint64_t seed = seed_of(count, arguments);
	arena = joined("metered");
	if (count > 2) {
		under_load(seed, atoi(arguments[2]), 0);
		return 0;
	}
	under_load(seed, 4, 0);
	under_load(seed + 100, 16, 0);
	under_load(seed + 200, 4, CS_DEBUGON);
	return 0;
}
