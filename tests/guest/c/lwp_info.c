/* _lwp_info(2): contents, return values, and that errno is left alone. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/lwp.h>
#include <sys/time.h>

#include "check.h"

_Static_assert(sizeof(struct lwpinfo) == 32, "the two members of the man page, and nothing else");
_Static_assert(offsetof(struct lwpinfo, lwp_stime) == 16, "in the man page's order");
_Static_assert(sizeof(struct lwpinfo32) == 16, "two times of 32-bit seconds");

static int proper(const timestruc_t *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static long long ns(const timestruc_t *time)
{
	return time->tv_sec * 1000000000LL + time->tv_nsec;
}

int main(void)
{
	struct lwpinfo first, last;
	struct lwpinfo32 narrow;

	errno = 1234;
	CHECK(_lwp_info(&first) == 0);
	for (volatile int i = 0; i < 3000000; i++)
		;
	CHECK(_lwp_info32(&narrow) == 0);
	CHECK(_lwp_info(&last) == 0);
	CHECK(proper(&first.lwp_utime) && proper(&first.lwp_stime));
	CHECK(proper(&last.lwp_utime) && proper(&last.lwp_stime));
	CHECK(ns(&last.lwp_utime) - ns(&first.lwp_utime) > 1000000);
	CHECK(ns(&last.lwp_stime) > ns(&first.lwp_stime));
	CHECK(narrow.lwp_utime.tv_sec == last.lwp_utime.tv_sec || narrow.lwp_utime.tv_sec + 1 == last.lwp_utime.tv_sec);
	CHECK(narrow.lwp_utime.tv_nsec >= 0 && narrow.lwp_utime.tv_nsec < 1000000000);

	/* The error's number itself comes back. */
	CHECK(_lwp_info(NULL) == EFAULT);
	CHECK(_lwp_info((struct lwpinfo *)0xffffffff80200000) == EFAULT);
	CHECK(_lwp_info32(NULL) == EFAULT);
	CHECK(errno == 1234);

	/* A buffer of exactly the right size, at an odd address, with nothing written outside. */
	unsigned char room[34];
	memset(room, 0xc5, sizeof room);
	CHECK(_lwp_info((struct lwpinfo *)(void *)(room + 1)) == 0);
	CHECK(room[0] == 0xc5 && room[33] == 0xc5);
	return 0;
}
