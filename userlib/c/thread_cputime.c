#include <sys/thread.h>

#include "call.h"

/*
 * For the caller itself the library stores the result: a bad pointer is then the caller's own fault (SIGSEGV), as
 * the man page has it. The store is volatile so that the compiler cannot reason it away.
 */
static int own_cputime(volatile thread_cputime_t *ctime)
{
	thread_cputime_t own;
	if (report(call2(TALLY_SYS_thread_cputime, -1, (long)&own)) == -1)
		return -1;
	ctime->utime = own.utime;
	ctime->stime = own.stime;
	return 0;
}

int thread_cputime(tid_t tid, thread_cputime_t *ctime)
{
	if (tid == -1)
		return own_cputime(ctime);
	return report(call2(TALLY_SYS_thread_cputime, tid, (long)ctime));
}
