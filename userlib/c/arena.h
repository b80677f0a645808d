/* What the functions of <ulocks.h> share. */
#ifndef TALLY_ARENA_H
#define TALLY_ARENA_H

#include <stdint.h>
#include <ulocks.h>

#include "call.h"

/* What arena_status fills; `struct ArenaStatus` of syscalls/src/sema.rs. */
struct arena_status {
	uint64_t address, size, used, info;
	uint32_t semaphores, most_users, users, members, records, records_on;
	char name[32];
	uint64_t pad;
};

/* What sema_next fills; `struct SemaStatus`. */
struct sema_status {
	uint64_t address, arena;
	uint32_t tokens, waiting, flags, initial;
	semameter_t meter;
	semadebug_t debug;
	uint64_t wait_total;
};
#define SEMA_METER 1
#define SEMA_DEBUG 2
#define SEMA_HISTORY 4
#define SEMA_RECURSION 8

/* What arena_records fills; `struct SemaRecord` and `struct Records`. */
struct sema_record {
	uint64_t semaphore, pc, time;
	uint32_t operation;
	int32_t count;
	uint32_t pid, tid, woken_pid, woken_tid;
};
struct sema_records {
	uint64_t entries, errors;
};

_Static_assert(sizeof(struct arena_status) == 96 && sizeof(struct sema_status) == 96, "as the kernel has them");
_Static_assert(sizeof(struct sema_record) == 48 && sizeof(semameter_ext_t) == 160, "as the kernel has them");

/* How sema_acquire waits. */
#define PATIENCE_WAIT 0
#define PATIENCE_NONE 1
#define PATIENCE_TIMED 2

/*
 * All records of an arena, newest first, in memory that the caller frees; how many there are and were is stored at `found`.
 * NULL with errno.
 */
struct sema_record *tally_records(usptr_t *arena, struct sema_records *found);

/* An address, or NULL with errno. */
static inline void *report_address(long result)
{
	if (result >= 0)
		return (void *)result;
	errno = (int)-result;
	return NULL;
}

#endif
