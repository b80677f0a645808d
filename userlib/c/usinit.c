#include "arena.h"
#include "usconfig.h"

usptr_t *usinit(const char *name)
{
	if (!name) {
		errno = EINVAL;
		return NULL;
	}
	return report_address(call4(TALLY_SYS_arena_join, (long)name, tally_arena_size, tally_arena_users,
				    tally_arena_type));
}

int usdetach(usptr_t *arena)
{
	return report(call2(TALLY_SYS_arena_leave, (long)arena, 0));
}
