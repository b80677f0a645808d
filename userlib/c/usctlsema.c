#include <stdarg.h>

#include "arena.h"

int usctlsema(usema_t *sema, int command, ...)
{
	va_list rest;

	va_start(rest, command);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	return report(call4(TALLY_SYS_sema_control, (long)sema, command, (long)argument, 0));
}
