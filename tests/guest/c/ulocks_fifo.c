/* K27: waiters are served in the order in which they came, whichever process is theirs; the token goes to the first of them
 * in the V, past everybody who has not queued. */
#include "ulocks_test.h"

#define WAITERS 8

struct order {
	int places, taken[WAITERS * 4];
};

static usptr_t *arena;
static usema_t *sema;
static struct order *order;

static void *takes(void *number)
{
	CHECK(uspsema(sema) == 1);
	int place = __atomic_fetch_add(&order->places, 1, __ATOMIC_SEQ_CST);
	order->taken[place] = (int)(intptr_t)number;
	return NULL;
}

static void takes_in_child(void *number) { takes(number); }

/* Instruments change nothing about the order. */
static void instruments(int set)
{
	if (set & 1)
		CHECK(usctlsema(sema, CS_METERON) == 0);
	if (set & 2)
		CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	if (set & 4)
		CHECK(usconfig(CONF_HISTON, arena) == 0 && usctlsema(sema, CS_HISTON) == 0);
}

/* Threads and processes in turn; the proof of the order is the count. */
static void in_order_of_arrival(int set)
{
	pthread_t threads[WAITERS];
	pid_t children[WAITERS];

	sema = made(arena, 0);
	instruments(set);
	order->places = 0;
	for (intptr_t number = 0; number < WAITERS; number++) {
		if (number % 2)
			threads[number] = started(takes, (void *)number);
		else
			children[number] = child(takes_in_child, (void *)number);
		AWAIT(ustestsema(sema) == (int)-number - 1);
	}
	for (int number = 0; number < WAITERS; number++) {
		CHECK(usvsema(sema) == 0);
		CHECK(ustestsema(sema) == number + 1 - WAITERS);
		AWAIT(__atomic_load_n(&order->places, __ATOMIC_SEQ_CST) == number + 1);
		CHECK(order->taken[number] == number);
	}
	for (int number = 0; number < WAITERS; number++)
		if (number % 2)
			ended(threads[number]);
		else
			ends_well(children[number]);
	usfreesema(sema, arena);
}

/* A running thread that gives and takes for ever is not served before one that waits. */
static void no_barging(int set)
{
	sema = made(arena, 0);
	instruments(set);
	pthread_t waiter = started(waits, sema);
	AWAIT(ustestsema(sema) == -1);
	CHECK(usvsema(sema) == 0);
	CHECK(uscpsema(sema) == 0); /* the token is the waiter's, whether it has run or not */
	CHECK(ended(waiter) == 1);
	usfreesema(sema, arena);
}

static void *hogs(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_SEQ_CST)) {
		CHECK(usvsema(sema) == 0);
		CHECK(uspsema(sema) == 1);
	}
	return NULL;
}

/* Each of them is served though another thread takes back whatever it gives. */
static void nobody_starves(void)
{
	int stop = 0;
	sema = made(arena, 0);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	pthread_t waiters[4];
	for (int number = 0; number < 4; number++)
		waiters[number] = started(waits, sema);
	AWAIT(ustestsema(sema) == -4);
	pthread_t hog = started(hogs, &stop);
	AWAIT(meter(sema).sm_psemas == 5); /* it has given one, to the first, and is the last in the queue now */
	METER_IS(sema, 0, 5, 1, 0, 4, 4);
	CHECK(usvsema(sema) == 0 && usvsema(sema) == 0 && usvsema(sema) == 0 && usvsema(sema) == 0);
	for (int number = 0; number < 4; number++)
		CHECK(ended(waiters[number]) == 1);
	stop = 1;
	ended(hog);
	CHECK(ustestsema(sema) == 0);
	usfreesema(sema, arena);
}

int main(void)
{
	order = shared_page();
	arena = joined("order");
	for (int set = 0; set < 8; set++) {
		in_order_of_arrival(set);
		no_barging(set);
		CHECK(usconfig(CONF_HISTOFF, arena) == 0);
	}
	nobody_starves();
	return 0;
}
