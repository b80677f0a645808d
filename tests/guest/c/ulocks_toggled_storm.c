/* Every instrument is switched on and off under load, and no operation and no token is lost. Arguments: SEED. */
#include "ulocks_test.h"

#define LWPS 6
#define TOKENS 2

static usptr_t *arena;
static usema_t *sema;
static int running;
static long inside; /* how many have a token */

static void *works(void *seed)
{
	uint64_t random = (uintptr_t)seed;
	for (long time = rounds(20000); time > 0; time--) {
		struct timespec little = {0, (long)(next(&random) % 30000)};
		unsigned kind = next(&random) % 4;
		int result = kind == 0 ? uscpsema(sema) : kind == 1 ? uspsema_timed(sema, &little) : uspsema(sema);
		CHECK(result == 1 || (result == 0 && kind < 2));
		if (result == 0)
			continue;
		CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) <= TOKENS);
		CHECK(__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST) >= 0);
		CHECK(usvsema(sema) == 0);
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* While it is on, nothing but this thread switches it off: a fetch must succeed and obey the laws. */
static void look(void)
{
	semameter_t now = meter(sema);
	CHECK(0 <= now.sm_phits && now.sm_phits <= now.sm_psemas);
	CHECK(0 <= now.sm_vnowait && now.sm_vnowait <= now.sm_vsemas);
	CHECK(0 <= now.sm_nwait && now.sm_nwait <= now.sm_maxnwait && now.sm_maxnwait <= LWPS);
}

static void toggle_one(uint64_t random)
{
	histptr_t chain;
	switch (random % 13) {
	case 0:
	case 1:
		CHECK(usctlsema(sema, CS_METERON) == 0);
		look();
		break;
	case 2:
		CHECK(usctlsema(sema, CS_METEROFF) == 0);
		break;
	case 3:
		CHECK(usctlsema(sema, CS_METERRESET) == 0);
		break;
	case 4:
		CHECK(usctlsema(sema, CS_DEBUGON) == 0);
		debug(sema);
		break;
	case 5:
	case 6:
		CHECK(usctlsema(sema, CS_DEBUGOFF) == 0);
		break;
	case 7:
		CHECK(usctlsema(sema, CS_DEBUGRESET) == 0);
		break;
	case 8:
		CHECK(usctlsema(sema, CS_HISTON) == 0 && usconfig(CONF_HISTON, arena) == 0);
		CHECK(usconfig(CONF_HISTFETCH, arena, &chain) == 0);
		break;
	case 9:
		CHECK(usctlsema(sema, CS_HISTOFF) == 0);
		break;
	case 10:
		CHECK(usconfig(CONF_HISTOFF, arena) == 0);
		break;
	case 11:
		CHECK(usconfig(CONF_HISTRESET, arena) == 0);
		break;
	default:
		CHECK(usconfig(CONF_HISTSIZE, arena, (int)(random >> 32) % 50 + 1) == 0);
	}
}

/* All counts of a meter that stays on are exact, whatever else is switched. */
static void others_under_a_meter(uint64_t random)
{
	sema = made(arena, TOKENS);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	running = 1;
	pthread_t worker = started(works, (void *)(uintptr_t)random);
	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST)) {
		CHECK(usctlsema(sema, next(&random) % 2 ? CS_DEBUGON : CS_DEBUGOFF) == 0);
		CHECK(usctlsema(sema, CS_METERON) == 0);
		doze((long)(next(&random) % 20000));
	}
	ended(worker);
	CHECK(meter(sema).sm_psemas == rounds(20000));
	CHECK(meter(sema).sm_vsemas <= rounds(20000));
	CHECK(meter(sema).sm_phits == meter(sema).sm_vsemas); /* one LWP alone never waits */
	usfreesema(sema, arena);
}

int main(int count, char **arguments)
{
	uint64_t random = seed_of(count, arguments);
	pthread_t threads[LWPS];

	arena = joined("toggled");
	CHECK(usconfig(CONF_HISTSIZE, arena, 20) == 0);
	sema = made(arena, TOKENS);
	running = LWPS;
	for (uintptr_t which = 0; which < LWPS; which++)
		threads[which] = started(works, (void *)(uintptr_t)(random + which));
	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST)) {
		toggle_one(next(&random) >> 8);
		if (next(&random) % 4 == 0)
			doze((long)(next(&random) % 20000));
	}
	for (int which = 0; which < LWPS; which++)
		ended(threads[which]);
	CHECK(ustestsema(sema) == TOKENS && inside == 0);
	for (int token = 0; token < TOKENS; token++)
		CHECK(uscpsema(sema) == 1);
	CHECK(uscpsema(sema) == 0);
	usfreesema(sema, arena);
	others_under_a_meter(random);
	return 0;
}
