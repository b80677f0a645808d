/* The history of an arena, as a chain of this process's own. */

#include <pthread.h>
#include <stdlib.h>

#include "arena.h"
#include "usconfig.h"

#define HISTORY_RESET 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* What was fetched last, and is valid until the next fetch. */
static hist_t *chain;

struct sema_record *tally_records(usptr_t *arena, struct sema_records *found)
{
	struct sema_record *records = NULL;
	uint64_t room = 0;

	for (;;) {
		long written = call4(TALLY_SYS_arena_records, (long)arena, (long)records, room, (long)found);
		if (written < 0) {
			free(records);
			errno = (int)-written;
			return NULL;
		}
		if (records && found->entries <= room)
			return records;
		free(records);
		room = found->entries + 16; /* some more may come meanwhile */
		records = malloc(room * sizeof(*records));
		if (!records)
			return NULL;
	}
}

static int bounded(uint64_t count)
{
	return count > INT32_MAX ? INT32_MAX : (int)count;
}

static hist_t *chained(const struct sema_record *records, uint64_t count)
{
	hist_t *links = calloc(count ? count : 1, sizeof(*links));

	for (uint64_t i = 0; links && i < count; i++)
		links[i] = (hist_t){
			.h_sem = (usema_t *)records[i].semaphore,
			.h_op = (int)records[i].operation,
			.h_pid = (pid_t)records[i].pid,
			.h_scnt = records[i].count,
			.h_wpid = (pid_t)records[i].woken_pid,
			.h_cpc = (char *)records[i].pc,
			.h_next = i + 1 < count ? &links[i + 1] : NULL,
			.h_last = i > 0 ? &links[i - 1] : NULL,
			.h_tid = (pid_t)records[i].tid,
			.h_wtid = (pid_t)records[i].woken_tid,
			.h_nsec = records[i].time,
		};
	return links;
}

static void replace_chain(hist_t *new)
{
	pthread_mutex_lock(&lock);
	hist_t *old = chain;
	chain = new;
	pthread_mutex_unlock(&lock);
	free(old);
}

int tally_fetch_history(usptr_t *arena, histptr_t *history)
{
	struct sema_records found;
	struct arena_status status;

	if (report(call2(TALLY_SYS_arena_status, (long)arena, (long)&status)) < 0)
		return -1;
	if (!status.records_on)
		return report(-EINVAL);
	/* The kernel looks whether `history` can be written to; it is as large as what it stores there. */
	_Static_assert(sizeof(histptr_t) == sizeof(struct sema_records), "so that it can");
	if (report(call4(TALLY_SYS_arena_records, (long)arena, 0, 0, (long)history)) < 0)
		return -1;
	struct sema_record *records = tally_records(arena, &found);
	if (!records)
		return -1;
	hist_t *links = chained(records, found.entries);
	free(records);
	if (!links)
		return -1;
	replace_chain(links);
	*history = (histptr_t){ found.entries ? links : NULL, bounded(found.entries), bounded(found.errors) };
	return 0;
}

int tally_reset_history(usptr_t *arena)
{
	if (report(call4(TALLY_SYS_arena_history, (long)arena, HISTORY_RESET, 0, 0)) < 0)
		return -1;
	replace_chain(NULL);
	return 0;
}
