#include "arena.h"

usema_t *usnewsema(usptr_t *arena, int count)
{
	return report_address(call2(TALLY_SYS_sema_new, (long)arena, count));
}

int usinitsema(usema_t *sema, int count)
{
	return report(call2(TALLY_SYS_sema_init, (long)sema, count));
}

void usfreesema(usema_t *sema, usptr_t *arena)
{
	call2(TALLY_SYS_sema_free, (long)sema, (long)arena);
}
