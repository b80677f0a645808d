/* CS_METERON, METEROFF, METERFETCH, METERRESET: what every operation does to every figure. */
#include "ulocks_test.h"

static usptr_t *arena;

static void operations(void)
{
	usema_t *sema = made(arena, 2);

	CHECK(usctlsema(sema, CS_METERON) == 0);
	METER_IS(sema, 0, 0, 0, 0, 0, 0);
	CHECK(uspsema(sema) == 1);
	METER_IS(sema, 1, 1, 0, 0, 0, 0);
	CHECK(uscpsema(sema) == 1);
	METER_IS(sema, 2, 2, 0, 0, 0, 0);
	CHECK(uscpsema(sema) == 0); /* a conditional P is one, whatever comes of it */
	METER_IS(sema, 2, 3, 0, 0, 0, 0);
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 2, 3, 1, 1, 0, 0);
	CHECK(usvsema(sema) == 0 && usvsema(sema) == 0);
	METER_IS(sema, 2, 3, 3, 3, 0, 0);
	CHECK(ustestsema(sema) == 3); /* asking is no operation */
	METER_IS(sema, 2, 3, 3, 3, 0, 0);
	usfreesema(sema, arena);
}

static void waiters(void)
{
	usema_t *sema = made(arena, 0);
	pthread_t threads[3];

	CHECK(usctlsema(sema, CS_METERON) == 0);
	for (int waiting = 1; waiting <= 3; waiting++) {
		threads[waiting - 1] = started(waits, sema);
		AWAIT(ustestsema(sema) == -waiting);
		METER_IS(sema, 0, waiting, 0, 0, waiting, waiting);
	}
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 0, 3, 1, 0, 2, 3); /* at once: the woken one is in no figure any more */
	CHECK(ended(threads[0]) == 1);
	METER_IS(sema, 0, 3, 1, 0, 2, 3);
	CHECK(usctlsema(sema, CS_METERRESET) == 0);
	METER_IS(sema, 0, 0, 0, 0, 2, 2); /* the queue as it stands */
	CHECK(usctlsema(sema, CS_METEROFF) == 0);
	CHECK(usvsema(sema) == 0);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	METER_IS(sema, 0, 0, 0, 0, 1, 1);
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 0, 0, 1, 0, 0, 1);
	CHECK(ended(threads[1]) == 1 && ended(threads[2]) == 1);
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 0, 0, 2, 1, 0, 1);
	CHECK(usctlsema(sema, CS_METERRESET) == 0);
	METER_IS(sema, 0, 0, 0, 0, 0, 0);
	usfreesema(sema, arena);
}

static void on_and_off(void)
{
	usema_t *sema = made(arena, 1);
	semameter_t meter_before = {7, 7, 7, 7, 7, 7}, as_before = meter_before;

	CHECK(usctlsema(sema, CS_METEROFF) == 0);
	CHECK(usctlsema(sema, CS_METERRESET) == 0);
	FAILS(usctlsema(sema, CS_METERFETCH, &meter_before), EINVAL); /* reset did not switch it on */
	CHECK(memcmp(&meter_before, &as_before, sizeof as_before) == 0);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	CHECK(uspsema(sema) == 1);
	CHECK(usctlsema(sema, CS_METERON) == 0); /* on while on changes nothing */
	METER_IS(sema, 1, 1, 0, 0, 0, 0);
	CHECK(usctlsema(sema, CS_METEROFF) == 0);
	FAILS(usctlsema(sema, CS_METERFETCH, &meter_before), EINVAL);
	CHECK(usvsema(sema) == 0);
	CHECK(usctlsema(sema, CS_METERON) == 0); /* on after off starts anew */
	METER_IS(sema, 0, 0, 0, 0, 0, 0);
	usfreesema(sema, arena);
}

/* The meter is the semaphore's own, and every process of the arena sees the same. */
static void another_process(void *sema)
{
	METER_IS((usema_t *)sema, 1, 1, 0, 0, 0, 0);
	CHECK(usvsema(sema) == 0);
}

static void shared(void)
{
	usema_t *sema = made(arena, 1), *other = made(arena, 1);

	CHECK(usctlsema(sema, CS_METERON) == 0 && usctlsema(other, CS_METERON) == 0);
	CHECK(uspsema(sema) == 1);
	in_child(another_process, sema);
	METER_IS(sema, 1, 1, 1, 1, 0, 0);
	METER_IS(other, 0, 0, 0, 0, 0, 0);
	usfreesema(sema, arena);
	usfreesema(other, arena);
}

/* A waiter that is killed, or whose time is over, leaves the queue and its figure. */
static void waiters_that_go(void)
{
	usema_t *sema = made(arena, 0);

	CHECK(usctlsema(sema, CS_METERON) == 0);
	pid_t first = child(waits_once, sema);
	AWAIT(meter(sema).sm_nwait == 1);
	pid_t second = child(waits_once, sema);
	AWAIT(meter(sema).sm_nwait == 2);
	is_killed(first);
	METER_IS(sema, 0, 2, 0, 0, 1, 2);
	CHECK(ustestsema(sema) == -1);
	CHECK(usvsema(sema) == 0);
	ends_well(second);
	METER_IS(sema, 0, 2, 1, 0, 0, 2);
	usfreesema(sema, arena);
}

/* The other instruments leave the figures as they are. */
static void with_all_others(void)
{
	usema_t *sema = made(arena, 1);

	CHECK(usctlsema(sema, CS_METERON) == 0);
	CHECK(uspsema(sema) == 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0 && usctlsema(sema, CS_HISTON) == 0);
	CHECK(usconfig(CONF_HISTON, arena) == 0);
	METER_IS(sema, 1, 1, 0, 0, 0, 0);
	CHECK(uscpsema(sema) == 0 && usvsema(sema) == 0 && uspsema(sema) == 1);
	METER_IS(sema, 2, 3, 1, 1, 0, 0);
	CHECK(usctlsema(sema, CS_DEBUGOFF) == 0 && usctlsema(sema, CS_HISTOFF) == 0);
	METER_IS(sema, 2, 3, 1, 1, 0, 0);
	CHECK(usvsema(sema) == 0);
	METER_IS(sema, 2, 3, 2, 2, 0, 0);
	CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	usfreesema(sema, arena);
}

int main(void)
{
	arena = joined("metered");
	operations();
	waiters();
	on_and_off();
	shared();
	waiters_that_go();
	with_all_others();
	return 0;
}
