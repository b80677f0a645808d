/* CS_DEBUGON and its companions: who owns a semaphore, who used it last, and where in the program that was. */
#include "ulocks_test.h"

#define NOBODY ((char *)-1)

static usptr_t *arena;
static usema_t *sema;

/* Functions of this program that call one operation each. Their ends are the next one's beginnings, as the compiler leaves
 * them; `within` allows for some hundred bytes. */
#define CALLER(name, call)                                                                                             \
	static __attribute__((noinline)) int name(void)                                                                \
	{                                                                                                              \
		int result = call;                                                                                     \
		__asm__ volatile("" ::: "memory"); /* not a jump to it: the call returns here */                       \
		return result;                                                                                         \
	}

CALLER(here_p, uspsema(sema))
CALLER(here_cp, uscpsema(sema))
CALLER(here_v, usvsema(sema))
static const struct timespec a_second = {1, 0};
CALLER(here_timed, uspsema_timed(sema, &a_second))

static int within(int (*function)(void), const char *pc)
{
	const char *start = (const char *)function;
	return pc > start && pc < start + 64;
}

static void owner_is(int pid, int (*function)(void))
{
	semadebug_t now = debug(sema);
	CHECK(now.sd_owner_pid == pid);
	CHECK(function ? within(function, now.sd_owner_pc) : now.sd_owner_pc == NOBODY);
}

static void last_is(int pid, int (*function)(void))
{
	semadebug_t now = debug(sema);
	CHECK(now.sd_last_pid == pid);
	CHECK(function ? within(function, now.sd_last_pc) : now.sd_last_pc == NOBODY);
}

static void is_blank(void)
{
	owner_is(-1, NULL);
	last_is(-1, NULL);
}

static void operations(void)
{
	int own = getpid();

	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	is_blank();
	CHECK(here_p() == 1);
	owner_is(own, here_p);
	last_is(own, here_p);
	CHECK(here_cp() == 0); /* that did nothing */
	owner_is(own, here_p);
	last_is(own, here_p);
	CHECK(here_v() == 0);
	owner_is(-1, NULL);
	last_is(own, here_v);
	CHECK(here_cp() == 1);
	owner_is(own, here_cp);
	last_is(own, here_cp);
	CHECK(here_v() == 0 && here_timed() == 1);
	owner_is(own, here_timed);
	last_is(own, here_timed);
	CHECK(usctlsema(sema, CS_DEBUGRESET) == 0);
	is_blank();
	CHECK(here_v() == 0); /* every token is back */
	owner_is(-1, NULL);
	last_is(own, here_v);
	usfreesema(sema, arena);
}

static void on_and_off(void)
{
	semadebug_t record = {7, (char *)7, 7, (char *)7};

	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_DEBUGOFF) == 0);
	CHECK(usctlsema(sema, CS_DEBUGRESET) == 0);
	FAILS(usctlsema(sema, CS_DEBUGFETCH, &record), EINVAL);
	CHECK(record.sd_owner_pid == 7 && record.sd_last_pid == 7);
	CHECK(record.sd_owner_pc == (char *)7 && record.sd_last_pc == (char *)7);
	CHECK(here_p() == 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	is_blank(); /* what was before is not known */
	CHECK(here_v() == 0 && here_p() == 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0); /* on while on changes nothing */
	owner_is(getpid(), here_p);
	CHECK(usctlsema(sema, CS_DEBUGOFF) == 0);
	FAILS(usctlsema(sema, CS_DEBUGFETCH, &record), EINVAL);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0); /* on after off starts anew */
	is_blank();
	usfreesema(sema, arena);
}

static void takes_one(void *unused)
{
	(void)unused;
	CHECK(here_p() == 1);
}

static void gives_one(void *unused)
{
	(void)unused;
	CHECK(here_v() == 0);
}

static void gives_one_in_vain(void *unused)
{
	(void)unused;
	FAILS(here_v(), EPERM);
}

/* A V takes the name of the owner away where that is its caller, or where no token is missing any more. */
static void several_tokens(void)
{
	int own = getpid();

	sema = made(arena, 3);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	CHECK(here_p() == 1 && here_p() == 1);
	pid_t pid = child(takes_one, NULL);
	ends_well(pid);
	owner_is(pid, here_p); /* the last to acquire, though it is no more */
	last_is(pid, here_p);
	CHECK(here_v() == 0); /* not the owner, and two are missing still */
	owner_is(pid, here_p);
	last_is(own, here_v);
	CHECK(here_cp() == 1);
	owner_is(own, here_cp);
	pid = child(gives_one, NULL);
	ends_well(pid);
	owner_is(own, here_cp);
	last_is(pid, here_v);
	CHECK(here_v() == 0); /* the owner itself, and one is missing still */
	owner_is(-1, NULL);
	pid = child(takes_one, NULL);
	ends_well(pid);
	CHECK(here_v() == 0);
	owner_is(pid, here_p);
	CHECK(here_v() == 0); /* not the owner, but now every token is back */
	owner_is(-1, NULL);
	usfreesema(sema, arena);
}

static void waits_here(void *go)
{
	CHECK(here_p() == 1);
	AWAIT(__atomic_load_n((int *)go, __ATOMIC_SEQ_CST));
}

/* The token and the owner's name go together; it was last the V's, and is the woken P's as soon as that runs. */
static void handed_over(void)
{
	int *go = shared_page();

	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	CHECK(here_p() == 1);
	pid_t pid = child(waits_here, go);
	AWAIT(ustestsema(sema) == -1);
	owner_is(getpid(), here_p);
	CHECK(here_v() == 0);
	owner_is(pid, here_p); /* at once */
	AWAIT(debug(sema).sd_last_pid == pid);
	last_is(pid, here_p);
	*go = 1;
	ends_well(pid);
	owner_is(pid, here_p);
	usfreesema(sema, arena);
	munmap(go, 4096);
}

/* A P whose time is over completes nothing; a nested V takes nothing from the owner, the outermost one does. */
static void what_changes_nothing(void)
{
	struct timespec little = {0, 1000};
	int own = getpid();

	sema = made(arena, 1);
	CHECK(usctlsema(sema, CS_DEBUGON) == 0 && usctlsema(sema, CS_RECURSIVEON) == 0);
	CHECK(here_p() == 1 && here_cp() == 1);
	owner_is(own, here_cp);
	CHECK(here_v() == 0);
	owner_is(own, here_cp);
	last_is(own, here_v);
	pid_t pid = child(gives_one_in_vain, NULL);
	ends_well(pid);
	last_is(own, here_v);
	CHECK(here_v() == 0);
	owner_is(-1, NULL);
	CHECK(usctlsema(sema, CS_RECURSIVEOFF) == 0);
	CHECK(here_p() == 1);
	CHECK(uspsema_timed(sema, &little) == 0);
	owner_is(own, here_p);
	last_is(own, here_p);
	usfreesema(sema, arena);
}

int main(void)
{
	arena = joined("debugged");
	what_changes_nothing();
	operations();
	on_and_off();
	several_tokens();
	handed_over();
	return 0;
}
