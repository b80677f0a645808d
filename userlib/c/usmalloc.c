#include "arena.h"

void *usmalloc(size_t bytes, usptr_t *arena)
{
	return report_address(call2(TALLY_SYS_arena_allocate, (long)arena, (long)bytes));
}

void usfree(void *block, usptr_t *arena)
{
	call2(TALLY_SYS_arena_free, (long)arena, (long)block);
}
