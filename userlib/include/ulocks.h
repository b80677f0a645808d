/*
 * Arenas of shared memory, and counting semaphores in them that tell what they go through: usinit(3P), usconfig(3P),
 * usnewsema(3P), uspsema(3P), usctlsema(3P) as IRIX had them.
 *
 * Where nothing else is said, calls return 0, or -1 with errno; those that return pointers, NULL with errno. A semaphore
 * that was freed, or whose arena this process has not joined, is EINVAL.
 */
#ifndef TALLY_ULOCKS_H
#define TALLY_ULOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An arena, and a semaphore in it. Both have the same address in every process. */
typedef struct usptr_s usptr_t;
typedef struct usema_s usema_t;

/*
 * Makes the arena of a name, or joins it. It lives until its last member is gone; children of fork are members.
 * EINVAL (an empty or too long name), ENOMEM, ENOSPC (as many processes as CONF_INITUSERS said have joined).
 */
usptr_t *usinit(const char *name);
int usdetach(usptr_t *arena);

/* Memory of the arena, for all its members. ENOMEM. */
void *usmalloc(size_t bytes, usptr_t *arena);
void usfree(void *block, usptr_t *arena);

/* The arena's one published word: put, got, or replaced if it is what is expected (returns whether it was). */
int usputinfo(usptr_t *arena, void *info);
void *usgetinfo(usptr_t *arena);
int uscasinfo(usptr_t *arena, void *expected, void *info);

/* Commands of usconfig. */
#define CONF_INITSIZE 1   /* unsigned bytes: of arenas that usinit makes; returns the value before */
#define CONF_INITUSERS 2  /* unsigned count: of processes that may join them; likewise */
#define CONF_GETSIZE 3    /* usptr_t *: returns the size */
#define CONF_GETUSERS 4   /* usptr_t *: returns how many may join */
#define CONF_ARENATYPE 5  /* US_GENERAL or US_SHAREDONLY: of arenas that usinit makes; returns the value before */
#define CONF_HISTON 6     /* usptr_t *: records operations of semaphores that are to be recorded */
#define CONF_HISTOFF 7    /* usptr_t *: no more; what is recorded stays */
#define CONF_HISTSIZE 8   /* usptr_t *, int: the most records, 0: as many as the arena has memory for */
#define CONF_HISTFETCH 9  /* usptr_t *, histptr_t *: a copy of the records, until this process's next FETCH or RESET */
#define CONF_HISTRESET 10 /* usptr_t *: no records */

#define US_GENERAL 0    /* found by its name */
#define US_SHAREDONLY 1 /* found by nobody: children have it from their parents */

/* EINVAL (the command, a value, a null arena), EFAULT (CONF_HISTFETCH). */
ptrdiff_t usconfig(int command, ...);

/* A semaphore of the arena with a count from 0 to 30000. EINVAL, ENOMEM. */
usema_t *usnewsema(usptr_t *arena, int count);

/* As new; who waits is told EIDRM. EINVAL. */
int usinitsema(usema_t *sema, int count);

/* Who waits is told EIDRM. */
void usfreesema(usema_t *sema, usptr_t *arena);

/* P: 1, when there is a token; first come, first served. EINVAL, EIDRM. */
int uspsema(usema_t *sema);

/* P if that takes no waiting: 1, or 0. EINVAL. */
int uscpsema(usema_t *sema);

/* P with patience: 1, or 0 where the time is over. EINVAL (the time too), EIDRM, EFAULT. Not of IRIX. */
int uspsema_timed(usema_t *sema, const struct timespec *patience);

/* V. EINVAL, EOVERFLOW (2^31 - 1 tokens), EPERM (recursion is on, and the caller is not the owner). */
int usvsema(usema_t *sema);

/* The count; where LWPs wait, minus their number. EINVAL: -1 with errno. */
int ustestsema(usema_t *sema);

/* Prints what there is to know, under a label. */
int usdumpsema(usema_t *sema, FILE *stream, const char *label);

/* Commands of usctlsema. */
#define CS_METERON 1
#define CS_METEROFF 2
#define CS_METERFETCH 3 /* semameter_t * */
#define CS_METERRESET 4
#define CS_DEBUGON 5
#define CS_DEBUGOFF 6
#define CS_DEBUGFETCH 7 /* semadebug_t * */
#define CS_DEBUGRESET 8
#define CS_HISTON 9
#define CS_HISTOFF 10
#define CS_RECURSIVEON 11
#define CS_RECURSIVEOFF 12
#define CS_METERFETCHEXT 13 /* semameter_ext_t *; not of IRIX */

/*
 * EINVAL (the command; METERFETCH, DEBUGFETCH while off; RECURSIVEON for a semaphore that was not made with 1 or is not
 * free, RECURSIVEOFF for one that is not free), ENOMEM (the arena has no memory left), EFAULT.
 */
int usctlsema(usema_t *sema, int command, ...);

/* What a meter counts; counts stop at 2^31 - 1. */
typedef struct semameter_s {
	int sm_phits;    /* P's that had a token at once */
	int sm_psemas;   /* P's and conditional P's */
	int sm_vsemas;   /* V's */
	int sm_vnowait;  /* V's with nobody waiting */
	int sm_nwait;    /* who waits now */
	int sm_maxnwait; /* most who waited at once */
} semameter_t;

/* What this project's meters count besides. */
#define SM_BUCKETS 32
typedef struct semameter_ext_s {
	uint64_t sm_wait_total;           /* all waits that ended, in ns */
	uint64_t sm_wait_max;             /* the longest */
	uint64_t sm_waits;                /* how many */
	uint32_t sm_tokens;               /* the count at that moment */
	uint32_t sm_tokens_before;        /* and when the meter began */
	uint32_t sm_histogram[SM_BUCKETS]; /* waits of 2^n to 2^(n+1)-1 ns; the first also 0, the last all longer ones */
} semameter_ext_t;

/* Who owns a semaphore and who used it last; -1: nobody. */
typedef struct semadebug_s {
	int sd_owner_pid;
	char *sd_owner_pc; /* where the owner's P was called */
	int sd_last_pid;
	char *sd_last_pc; /* where the last P or V was called */
} semadebug_t;

/* Operations in a history. */
#define HOP_PHIT 1     /* a P that had a token at once */
#define HOP_PSLEEP 2   /* a P that began to wait */
#define HOP_PWOKE 3    /* a P that waited, and runs with its token */
#define HOP_PMISS 4    /* a conditional P without */
#define HOP_PTIMEOUT 5 /* a P whose time was over */
#define HOP_VNOWAIT 6  /* a V with nobody waiting */
#define HOP_VWAKE 7    /* a V that woke one */

typedef struct hist_s {
	usema_t *h_sem;
	int h_op;      /* HOP_... */
	pid_t h_pid;   /* whose operation */
	int h_scnt;    /* what ustestsema would have answered afterwards */
	pid_t h_wpid;  /* whom it woke */
	char *h_cpc;   /* where it was called */
	struct hist_s *h_next, *h_last; /* the one before in time, and the one after */
	pid_t h_tid, h_wtid;            /* the LWPs */
	uint64_t h_nsec;                /* when, by CLOCK_MONOTONIC */
} hist_t;

typedef struct histptr_s {
	hist_t *hp_current; /* the newest record */
	int hp_entries;     /* how many there are */
	int hp_errors;      /* records that can no longer be had */
} histptr_t;

#ifdef __cplusplus
}
#endif
#endif
