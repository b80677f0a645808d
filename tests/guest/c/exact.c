/*
 * A user loop of known length, a getppid loop and a sleep, billed by _lwp_info from C. In virtual time (TALLY_ICOUNT)
 * the bill agrees with the clock to within the cost of the calls that read both; in any time it never goes back.
 */
#include <stdlib.h>
#include <sys/lwp.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

typedef long long ns;

/* What reading clock and bill, twice each, may cost. */
static const ns reading = 2000;

struct bill {
	ns clock, user, system;
};

static ns in_ns(const struct timespec *time)
{
	return time->tv_sec * 1000000000LL + time->tv_nsec;
}

static struct bill now(void)
{
	struct lwpinfo info;
	struct timespec clock;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &clock) == 0);
	CHECK(_lwp_info(&info) == 0);
	return (struct bill){in_ns(&clock), in_ns(&info.lwp_utime), in_ns(&info.lwp_stime)};
}

static void user_loop(long rounds)
{
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds));
}

static void call_loop(long rounds)
{
	while (rounds--)
		syscall(SYS_getppid);
}

static void sleep_ms(long ms)
{
	struct timespec length = {0, ms * 1000000};
	CHECK(nanosleep(&length, NULL) == 0);
}

static struct bill spent(void (*work)(long), long amount)
{
	struct bill before = now();
	work(amount);
	struct bill after = now();
	CHECK(after.user >= before.user && after.system >= before.system);
	return (struct bill){after.clock - before.clock, after.user - before.user, after.system - before.system};
}

/* Equal, but for the readings and a ten-thousandth for the clock's calibration. */
static int agree(ns one, ns other)
{
	return llabs(one - other) <= reading + other / 10000;
}

int main(void)
{
	int exact = getenv("TALLY_ICOUNT") != NULL;

	struct bill loop = spent(user_loop, 5000000);
	printf("user loop: %lld ns by the clock, %lld user, %lld system\n", loop.clock, loop.user, loop.system);
	CHECK(loop.user > 0);
	CHECK(!exact || (agree(loop.user, 10000000) && agree(loop.user + loop.system, loop.clock)));

	struct bill calls = spent(call_loop, 20000);
	printf("getppid loop: %lld ns by the clock, %lld user, %lld system\n", calls.clock, calls.user, calls.system);
	CHECK(calls.system > 0);
	CHECK(!exact || agree(calls.user + calls.system, calls.clock));

	struct bill sleep = spent(sleep_ms, 100);
	printf("sleep: %lld ns by the clock, %lld user, %lld system\n", sleep.clock, sleep.user, sleep.system);
	CHECK(sleep.clock >= 100000000);
	CHECK(sleep.user + sleep.system < 20000000);
	CHECK(!exact || sleep.user + sleep.system < 20000);
	return 0;
}
