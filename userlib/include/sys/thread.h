/* AIX's kernel threads, which are LWPs here: thread_cputime, thread_self. */
#ifndef TALLY_SYS_THREAD_H
#define TALLY_SYS_THREAD_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TALLY_TID_T
#define TALLY_TID_T
typedef int tid_t;
#endif

typedef struct {
	uint64_t utime; /* user time in nanoseconds */
	uint64_t stime; /* system time in nanoseconds */
} thread_cputime_t;

/*
 * The CPU time of any thread of any process, its present slice included; tid -1: the caller's.
 * 0, or -1 with errno: EINVAL (0, or below -1), ESRCH (no such thread, or it has ended), EFAULT (bad ctime).
 * With tid -1 a bad ctime is a fault of the caller (SIGSEGV), as on AIX.
 */
int thread_cputime(tid_t tid, thread_cputime_t *ctime);

/* The calling thread's id. */
tid_t thread_self(void);

#ifdef __cplusplus
}
#endif
#endif
