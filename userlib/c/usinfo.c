#include "arena.h"

#define PUT 0
#define COMPARE 1

int usputinfo(usptr_t *arena, void *info)
{
	return report(call4(TALLY_SYS_arena_exchange, (long)arena, PUT, 0, (long)info)) < 0 ? -1 : 0;
}

void *usgetinfo(usptr_t *arena)
{
	struct arena_status status;
	int result = report(call2(TALLY_SYS_arena_status, (long)arena, (long)&status));

	return result < 0 ? NULL : (void *)status.info;
}

int uscasinfo(usptr_t *arena, void *expected, void *info)
{
	return report(call4(TALLY_SYS_arena_exchange, (long)arena, COMPARE, (long)expected, (long)info));
}
