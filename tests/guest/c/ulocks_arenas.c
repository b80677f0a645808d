/* Arenas: who has them, at which address, for how long; and every error of usinit and usdetach. */
#include "ulocks_test.h"

static int *turns; /* shared by all children, outside of any arena */

static void bad_names(void)
{
	char long_name[8192];

	FAILS_NULL(usinit(""), EINVAL);
	memset(long_name, 'n', sizeof long_name);
	long_name[sizeof long_name - 1] = 0;
	FAILS_NULL(usinit(long_name), EINVAL);
	CHECK(usconfig(CONF_ARENATYPE, US_GENERAL) == US_GENERAL); /* errors left no trace */
}

/* Processes that have nothing of each other: the second has other mappings, and another arena before this one. */
static void makes(void *unused)
{
	(void)unused;
	usptr_t *arena = joined("one address");
	int *number = usmalloc(sizeof *number, arena);
	CHECK(number != NULL);
	*number = 12345;
	CHECK(usputinfo(arena, number) == 0);
	__atomic_store_n(&turns[0], 1, __ATOMIC_SEQ_CST);
	AWAIT(__atomic_load_n(&turns[1], __ATOMIC_SEQ_CST));
	CHECK(*number == 54321);
}

static void joins(void *unused)
{
	(void)unused;
	for (int number = 0; number < 20; number++)
		CHECK(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	joined("another one, before");
	AWAIT(__atomic_load_n(&turns[0], __ATOMIC_SEQ_CST));
	usptr_t *arena = joined("one address");
	int *number = usgetinfo(arena);
	CHECK(number != NULL && *number == 12345);
	*number = 54321;
	__atomic_store_n(&turns[1], 1, __ATOMIC_SEQ_CST);
}

static void one_address(void)
{
	memset(turns, 0, 4096);
	pid_t maker = child(makes, NULL);
	in_child(joins, NULL);
	ends_well(maker);
}

static void two_names_are_two_arenas(void)
{
	usptr_t *first = joined("first"), *second = joined("second");

	CHECK(first != second);
	CHECK(usputinfo(first, (void *)1) == 0 && usputinfo(second, (void *)2) == 0);
	CHECK(usgetinfo(first) == (void *)1 && usgetinfo(second) == (void *)2);
	CHECK(joined("first") == first);
	CHECK(usgetinfo(first) == (void *)1);
	usdetach(first);
	usdetach(second);
}

static void keeps(void *arena)
{
	AWAIT(__atomic_load_n(&turns[0], __ATOMIC_SEQ_CST));
	CHECK(usgetinfo(arena) == (void *)77);
}

/* It lives until its last member is gone: by usdetach, by the end, killed, by another program. */
static void lives_to_the_last(void)
{
	memset(turns, 0, 4096);
	usptr_t *arena = joined("to the last");
	CHECK(usgetinfo(arena) == NULL);
	CHECK(usputinfo(arena, (void *)77) == 0);
	pid_t kept = child(keeps, arena);
	usdetach(arena);
	arena = joined("to the last"); /* the child has it still */
	CHECK(usgetinfo(arena) == (void *)77);
	usdetach(arena);
	__atomic_store_n(&turns[0], 1, __ATOMIC_SEQ_CST);
	ends_well(kept);
	arena = joined("to the last");
	CHECK(usgetinfo(arena) == NULL); /* a new one */
	usdetach(arena);
}

static void publishes(void *unused)
{
	(void)unused;
	usptr_t *arena = joined("left");
	CHECK(usgetinfo(arena) == NULL);
	CHECK(usputinfo(arena, arena) == 0);
	CHECK(usnewsema(arena, 1) != NULL);
	kill(getpid(), SIGKILL);
}

static void a_killed_member_leaves_it(void)
{
	for (int time = 0; time < 100; time++) {
		int status;
		pid_t pid = child(publishes, NULL);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	}
}

static void detached_is_gone(void)
{
	usptr_t *arena = joined("gone");
	usema_t *sema = made(arena, 1);

	usdetach(arena);
	FAILS(usconfig(CONF_GETSIZE, arena), EINVAL);
	FAILS_NULL(usnewsema(arena, 1), EINVAL);
	FAILS(usctlsema(sema, CS_METERON), EINVAL);
}

static void cannot_join(void *name) { FAILS_NULL(usinit(name), ENOSPC); }
static void can_join(void *name) { joined(name); }

static void joins_and_stays(void *name)
{
	usptr_t *arena = joined(name);
	AWAIT(usgetinfo(arena) == (void *)1);
}

/* Children of fork do not count, and whoever asks twice is counted once; a place is free again when one goes. */
static void only_so_many_processes(void)
{
	char *name = "two at most";
	ptrdiff_t usual = usconfig(CONF_INITUSERS, 2);
	CHECK(usual == 8);
	usptr_t *arena = joined(name);
	CHECK(usconfig(CONF_INITUSERS, (int)usual) == 2);
	CHECK(usconfig(CONF_GETUSERS, arena) == 2);
	joined(name);
	pid_t stays = fork();
	CHECK(stays >= 0);
	if (stays == 0) { /* has it by fork */
		AWAIT(usgetinfo(arena) == (void *)1);
		_exit(0);
	}
	CHECK(usputinfo(arena, (void *)1) == 0);
	ends_well(stays);
	usdetach(arena);
	usdetach(arena); /* where it is counted how often this process asked */

	CHECK(usconfig(CONF_INITUSERS, 2) == usual);
	pid_t members[2] = {child(joins_and_stays, name), child(joins_and_stays, name)};
	doze(50000000);
	in_child(cannot_join, name);
	in_child(cannot_join, name);
	is_killed(members[0]);
	in_child(can_join, name);
	arena = joined(name);
	in_child(cannot_join, "two at most");
	CHECK(usputinfo(arena, (void *)1) == 0);
	ends_well(members[1]);
	usdetach(arena);
	CHECK(usconfig(CONF_INITUSERS, (int)usual) == 2);
}

static void finds_another(void *info) { CHECK(usgetinfo(joined("only ours")) != info); }
static void has_it(void *arena) { CHECK(usgetinfo(arena) == (void *)5); }

/* US_SHAREDONLY: nobody finds it by its name, children have it. */
static void nameless(void)
{
	CHECK(usconfig(CONF_ARENATYPE, US_SHAREDONLY) == US_GENERAL);
	usptr_t *arena = joined("only ours");
	usptr_t *second = joined("only ours");
	CHECK(usconfig(CONF_ARENATYPE, US_GENERAL) == US_SHAREDONLY);
	CHECK(arena != second);
	CHECK(usputinfo(arena, (void *)5) == 0);
	CHECK(usputinfo(second, (void *)6) == 0);
	in_child(has_it, arena);
	in_child(finds_another, (void *)5);
	in_child(finds_another, (void *)6);
	usdetach(arena);
	usdetach(second);
}

static void detaches(void *arena)
{
	usdetach(arena);
	FAILS(usconfig(CONF_GETSIZE, arena), EINVAL);
}

/* A child that lets go of it takes nothing from its parent. */
static void a_child_detaches(void)
{
	usptr_t *arena = joined("kept");
	CHECK(usputinfo(arena, (void *)9) == 0);
	in_child(detaches, arena);
	CHECK(usgetinfo(arena) == (void *)9);
	usdetach(arena);
}

int main(void)
{
	turns = shared_page();
	bad_names();
	one_address();
	two_names_are_two_arenas();
	lives_to_the_last();
	a_killed_member_leaves_it();
	detached_is_gone();
	only_so_many_processes();
	nameless();
	a_child_detaches();
	return 0;
}
