/* A process that writes anything into the shared words of an arena harms those of that arena, never another arena or the
 * kernel; and whatever it did is gone with the arena. Arguments: SEED. */
#include "ulocks_test.h"

#define SEMAS 8

static usptr_t *theirs, *ours;
static usema_t *semas[SEMAS], *peaceful;

/* Words that a semaphore might have, and any others. */
static uint64_t evil(uint64_t *random)
{
	static const uint64_t words[] = {0, 1, ~0ULL, 1ULL << 63, 1ULL << 62, 0x7fffffff, 0x7fffffff00000000, 0xc000000000000000};
	uint64_t drawn = next(random);
	return drawn % 3 ? words[drawn / 3 % 8] + drawn / 24 % 3 : next(random);
}

static void scribble(uint64_t *random)
{
	usema_t *sema = semas[next(random) % SEMAS];
	volatile uint64_t *page = (uint64_t *)((uintptr_t)sema & ~4095UL);
	if (next(random) % 8)
		((volatile uint64_t *)sema)[next(random) % 4] = evil(random);
	else
		for (int word = 0; word < 512; word++)
			page[word] = evil(random);
}

static void operate(uint64_t *random)
{
	static const int commands[] = {CS_METERON, CS_METEROFF, CS_METERRESET, CS_DEBUGON, CS_DEBUGOFF, CS_DEBUGRESET,
				       CS_HISTON, CS_HISTOFF, CS_RECURSIVEON, CS_RECURSIVEOFF};
	struct timespec little = {0, (long)(next(random) % 30000)};
	semameter_t meter;
	semadebug_t debug;
	unsigned which = next(random) % SEMAS;
	usema_t *sema = semas[which];
	switch (next(random) % 12) {
	case 0:
	case 1:
		usvsema(sema);
		break;
	case 2:
		uscpsema(sema);
		break;
	case 3:
	case 4:
		uspsema_timed(sema, &little);
		break;
	case 5:
		ustestsema(sema);
		break;
	case 6:
		usctlsema(sema, CS_METERFETCH, &meter);
		break;
	case 7:
		usctlsema(sema, CS_DEBUGFETCH, &debug);
		break;
	case 8:
		usinitsema(sema, (int)(next(random) % 3));
		break;
	case 9:
		usfreesema(sema, theirs);
		if ((sema = usnewsema(theirs, 1)) != NULL)
			semas[which] = sema;
		break;
	default:
		usctlsema(sema, commands[next(random) % 10]);
	}
}

static void *is_hostile(void *seed)
{
	uint64_t random = (uintptr_t)seed;
	for (;;) {
		scribble(&random);
		operate(&random);
	}
	return NULL;
}

/* Threads of it meet in the kernel with words that change under them. */
static void hostile_process(void *seed)
{
	started(is_hostile, (char *)seed + 1);
	started(is_hostile, (char *)seed + 2);
	is_hostile(seed);
}

static void *is_peaceful(void *times)
{
	for (long time = 0; time < (intptr_t)times; time++) {
		CHECK(uspsema(peaceful) == 1);
		CHECK(usvsema(peaceful) == 0);
	}
	return NULL;
}

/* The other arena's figures are exact meanwhile. */
static void in_peace(long times)
{
	CHECK(usctlsema(peaceful, CS_METERRESET) == 0);
	pthread_t threads[2] = {started(is_peaceful, (void *)times), started(is_peaceful, (void *)times)};
	for (int which = 0; which < 2; which++)
		ended(threads[which]);
	semameter_t now = meter(peaceful);
	CHECK(now.sm_psemas == 2 * times && now.sm_vsemas == 2 * times && now.sm_nwait == 0);
	CHECK(now.sm_phits + now.sm_vsemas - now.sm_vnowait == now.sm_psemas);
	CHECK(ustestsema(peaceful) == 1);
}

int main(int count, char **arguments)
{
	uint64_t seed = seed_of(count, arguments);
	ours = joined("ours");
	peaceful = made(ours, 1);
	CHECK(usctlsema(peaceful, CS_METERON) == 0);
	for (int round = 0; round < 6; round++) {
		theirs = joined("theirs");
		for (int which = 0; which < SEMAS; which++)
			semas[which] = made(theirs, which % 3);
		CHECK(usconfig(CONF_HISTON, theirs) == 0);
		pid_t children[2];
		for (uintptr_t number = 0; number < 2; number++)
			children[number] = child(hostile_process, (void *)(uintptr_t)(next(&seed) >> 1));
		in_peace(rounds(2000));
		doze((long)(next(&seed) % 20000000));
		for (int number = 0; number < 2; number++) {
			int status;
			kill(children[number], SIGKILL); /* it may have harmed itself before */
			CHECK(waitpid(children[number], &status, 0) == children[number]);
		}
		usdetach(theirs);
		theirs = joined("theirs"); /* the harm is gone */
		usema_t *new = made(theirs, 1);
		CHECK(uspsema(new) == 1 && uscpsema(new) == 0 && usvsema(new) == 0 && ustestsema(new) == 1);
		usdetach(theirs);
		in_peace(rounds(200));
	}
	return 0;
}
