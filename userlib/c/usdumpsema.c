#include <inttypes.h>
#include <stdlib.h>

#include "arena.h"

#define RECORDS_SHOWN 10

static const char *const OPERATIONS[] = { "?", "P hit", "P sleeps", "P woke", "P miss", "P time-out", "V", "V wakes" };

/* What there is to know of a semaphore: looked for among all. */
static int find(usema_t *sema, struct sema_status *status)
{
	for (long key = 0; (key = call2(TALLY_SYS_sema_next, key, (long)status)) > 0;)
		if (status->address == (uint64_t)sema)
			return 0;
	errno = EINVAL;
	return -1;
}

static void print_debug(FILE *stream, const semadebug_t *debug)
{
	fprintf(stream, "  owner: pid %d at %p; last: pid %d at %p\n", debug->sd_owner_pid, (void *)debug->sd_owner_pc,
		debug->sd_last_pid, (void *)debug->sd_last_pc);
}

static void print_meter(FILE *stream, const semameter_t *meter, uint64_t wait_total)
{
	fprintf(stream,
		"  meter: phits %d, psemas %d, vsemas %d, vnowait %d, nwait %d, maxnwait %d; waited %" PRIu64 " ns\n",
		meter->sm_phits, meter->sm_psemas, meter->sm_vsemas, meter->sm_vnowait, meter->sm_nwait,
		meter->sm_maxnwait, wait_total);
}

static void print_record(FILE *stream, const struct sema_record *record)
{
	const char *what = record->operation < sizeof(OPERATIONS) / sizeof(*OPERATIONS) ? OPERATIONS[record->operation] : "?";

	fprintf(stream, "  %" PRIu64 ".%09" PRIu64 " %-10s pid %u LWP %u at %#" PRIx64 ", count %d", record->time / 1000000000,
		record->time % 1000000000, what, record->pid, record->tid, record->pc, record->count);
	if (record->woken_pid)
		fprintf(stream, ", wakes pid %u LWP %u", record->woken_pid, record->woken_tid);
	fputc('\n', stream);
}

static void print_history(FILE *stream, const struct sema_status *status)
{
	struct sema_records found;
	struct sema_record *records = tally_records((usptr_t *)status->arena, &found);
	int shown = 0;

	for (uint64_t i = 0; records && i < found.entries && shown < RECORDS_SHOWN; i++)
		if (records[i].semaphore == status->address) {
			print_record(stream, &records[i]);
			shown++;
		}
	free(records);
}

int usdumpsema(usema_t *sema, FILE *stream, const char *label)
{
	struct sema_status status;

	/* The kernel tells everyone of all semaphores, but this one is to be the caller's to use. */
	if (report(call2(TALLY_SYS_sema_test, (long)sema, 0) < 0 ? -EINVAL : 0) < 0 || find(sema, &status) < 0)
		return -1;
	fprintf(stream, "%s: semaphore %p in arena %#" PRIx64 ": count %u, waiting %u, initial %u%s%s%s%s\n",
		label ? label : "", (void *)sema, status.arena, status.tokens, status.waiting, status.initial,
		status.flags & SEMA_METER ? ", metered" : "", status.flags & SEMA_DEBUG ? ", debugged" : "",
		status.flags & SEMA_HISTORY ? ", recorded" : "", status.flags & SEMA_RECURSION ? ", recursive" : "");
	if (status.flags & SEMA_METER)
		print_meter(stream, &status.meter, status.wait_total);
	if (status.flags & SEMA_DEBUG)
		print_debug(stream, &status.debug);
	print_history(stream, &status);
	return ferror(stream) ? -1 : 0;
}
