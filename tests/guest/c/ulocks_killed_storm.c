/*
 * Processes that wait for semaphores, own them and give them are killed, end and become other programs at any moment: whoever
 * is left goes on, and no token is lost or doubled but those that the dead had. K29 with many. Arguments: SEED ROUNDS.
 */
#include "ulocks_test.h"

#define CHILDREN 4

static usptr_t *arena;
static usema_t *sema;

/* What the children tell; each has its own, changed before or after the operation that it is about. */
struct account {
	long begun, got, giving, given;
};
static struct account *accounts;

static void count_one(long *of_account) { __atomic_fetch_add(of_account, 1, __ATOMIC_SEQ_CST); }

static void takes_and_gives(void *number)
{
	struct account *own = &accounts[(intptr_t)number];
	for (;;) {
		count_one(&own->begun);
		CHECK(uspsema(sema) == 1);
		count_one(&own->got);
		count_one(&own->giving);
		CHECK(usvsema(sema) == 0);
		count_one(&own->given);
	}
}

/* K29: A and B wait; A is killed as the V comes. B has the token then, or, where A had it, another V does. */
static void killed_as_it_is_woken(uint64_t *random, int instrument)
{
	struct account *first = &accounts[0];
	memset(accounts, 0, 4096);
	sema = made(arena, 0);
	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	pid_t children[2];
	for (intptr_t number = 0; number < 2; number++) {
		children[number] = child(number ? waits_once : takes_and_gives, number ? (void *)sema : NULL);
		AWAIT(ustestsema(sema) == (int)-number - 1);
	}
	pid_t killer = fork();
	CHECK(killer >= 0);
	if (killer == 0) {
		doze((long)(next(random) % 300000));
		kill(children[0], SIGKILL);
		_exit(0);
	}
	doze((long)(next(random) % 300000));
	CHECK(usvsema(sema) == 0);
	ends_well(killer);
	int status;
	CHECK(waitpid(children[0], &status, 0) == children[0] && WIFSIGNALED(status));
	/* It had it if it ran on; it may have had it if nobody has it now. Else the token went to B. */
	doze(20000000);
	int done = waitpid(children[1], &status, WNOHANG) == children[1];
	if (!done) {
		CHECK(__atomic_load_n(&first->got, __ATOMIC_SEQ_CST) > 0 || ustestsema(sema) == -1);
		CHECK(usvsema(sema) == 0);
		CHECK(waitpid(children[1], &status, 0) == children[1]);
	}
	CHECK(status == 0);
	CHECK(ustestsema(sema) >= 0);
	usfreesema(sema, arena);
}

/* A waiter that has not run since it was given its token passes it on when it is killed; stopped, it cannot have run. */
static void passes_it_on(int instrument)
{
	int status;
	memset(accounts, 0, 4096);
	sema = made(arena, 0);
	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	pid_t stopped = child(takes_and_gives, NULL);
	AWAIT(ustestsema(sema) == -1);
	CHECK(kill(stopped, SIGSTOP) == 0);
	CHECK(waitpid(stopped, &status, WUNTRACED) == stopped && WIFSTOPPED(status));
	pthread_t second = started(waits, sema);
	AWAIT(ustestsema(sema) == -2);
	CHECK(usvsema(sema) == 0);
	CHECK(ustestsema(sema) == -1);
	is_killed(stopped);
	AWAIT(ustestsema(sema) == 0); /* the other has it */
	CHECK(ended(second) == 1);
	CHECK(ustestsema(sema) == 0);
	CHECK(accounts[0].got == 0);

	stopped = child(takes_and_gives, NULL); /* with nobody behind it: it is in the count again */
	AWAIT(ustestsema(sema) == -1);
	CHECK(kill(stopped, SIGSTOP) == 0);
	CHECK(waitpid(stopped, &status, WUNTRACED) == stopped && WIFSTOPPED(status));
	CHECK(usvsema(sema) == 0);
	CHECK(ustestsema(sema) == 0);
	is_killed(stopped);
	CHECK(ustestsema(sema) == 1);
	usfreesema(sema, arena);
}

/* All but one are killed at random moments; what is there in the end is what the accounts allow. */
static void random_moments(uint64_t *random, int instrument)
{
	pid_t children[CHILDREN];
	int given = 3;

	memset(accounts, 0, 4096);
	sema = made(arena, given);
	CHECK(usctlsema(sema, CS_METERON) == 0);
	if (instrument)
		CHECK(usctlsema(sema, instrument) == 0);
	for (intptr_t number = 0; number < CHILDREN; number++)
		children[number] = child(takes_and_gives, (void *)number);
	for (int number = 0; number < CHILDREN; number++) {
		doze((long)(next(random) % 2000000));
		is_killed(children[number]);
	}
	int least = given, most = given;
	for (int number = 0; number < CHILDREN; number++) {
		struct account *of = &accounts[number];
		least += (int)(of->given - of->begun);
		most += (int)(of->giving - of->got);
	}
	semameter_t now = meter(sema);
	CHECK(now.sm_nwait == 0);
	CHECK(now.sm_phits <= now.sm_psemas && now.sm_vnowait <= now.sm_vsemas && now.sm_maxnwait <= CHILDREN);
	int tokens = ustestsema(sema);
	if (tokens < least || tokens > most)
		fprintf(stderr, "%d tokens, not %d to %d\n", tokens, least, most);
	CHECK(least <= tokens && tokens <= most);
	int had = 0;
	while (uscpsema(sema) == 1)
		had++;
	CHECK(had == tokens);
	usfreesema(sema, arena);
}

/* An owner that is killed changes nothing, and is named. */
static void the_owner_is_killed(void)
{
	memset(accounts, 0, 4096);
	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	CHECK(uspsema(sema) == 1);
	pid_t owner = fork();
	CHECK(owner >= 0);
	if (owner == 0) {
		CHECK(uspsema(sema) == 1);
		count_one(&accounts[0].got);
		for (;;)
			pause();
	}
	CHECK(usvsema(sema) == 0);
	AWAIT(__atomic_load_n(&accounts[0].got, __ATOMIC_SEQ_CST) == 1);
	is_killed(owner);
	CHECK(ustestsema(sema) == 0 && uscpsema(sema) == 0);
	CHECK(debug(sema).sd_owner_pid == owner);
	CHECK(usvsema(sema) == 0 && uscpsema(sema) == 1); /* somebody else may give it */
	usfreesema(sema, arena);
}

int main(int count, char **arguments)
{
	static const int instruments[] = {0, CS_METERON, CS_DEBUGON, CS_HISTON};
	uint64_t seed = seed_of(count, arguments);
	int times = count > 2 ? atoi(arguments[2]) : 8;

	accounts = shared_page();
	usconfig(CONF_INITSIZE, 1 << 20);
	arena = joined("killed");
	CHECK(usconfig(CONF_HISTSIZE, arena, 100) == 0 && usconfig(CONF_HISTON, arena) == 0);
	for (int which = 0; which < 4; which++)
		passes_it_on(instruments[which]);
	for (int time = 0; time < times; time++) {
		killed_as_it_is_woken(&seed, instruments[time % 4]);
		random_moments(&seed, instruments[time % 4]);
	}
	the_owner_is_killed();
	return 0;
}
