#include <stdarg.h>

#include "arena.h"
#include "usconfig.h"

#define LEAST_BYTES 4096u
#define MOST_BYTES (1u << 30)
#define MOST_USERS 10000u

unsigned tally_arena_size = 65536, tally_arena_users = 8;
int tally_arena_type = US_GENERAL;

static ptrdiff_t invalid(void)
{
	errno = EINVAL;
	return -1;
}

/* Replaces a setting by a value from `least` to `most`; returns the one before. */
static ptrdiff_t replace(unsigned *setting, unsigned value, unsigned least, unsigned most)
{
	unsigned before = *setting;

	if (value < least || value > most)
		return invalid();
	*setting = value;
	return before;
}

static ptrdiff_t replace_type(int type)
{
	int before = tally_arena_type;

	if (type != US_GENERAL && type != US_SHAREDONLY)
		return invalid();
	tally_arena_type = type;
	return before;
}

static ptrdiff_t size_of(usptr_t *arena)
{
	struct arena_status status;
	int result = report(call2(TALLY_SYS_arena_status, (long)arena, (long)&status));

	return result < 0 ? -1 : (ptrdiff_t)status.size;
}

static ptrdiff_t users_of(usptr_t *arena)
{
	struct arena_status status;
	int result = report(call2(TALLY_SYS_arena_status, (long)arena, (long)&status));

	return result < 0 ? -1 : (ptrdiff_t)status.most_users;
}

/* The kernel's commands for histories. */
#define HISTORY_ON 1
#define HISTORY_OFF 2
#define HISTORY_SIZE 3

static ptrdiff_t history(usptr_t *arena, int command, long value)
{
	return report(call4(TALLY_SYS_arena_history, (long)arena, command, value, 0));
}

ptrdiff_t usconfig(int command, ...)
{
	va_list rest;
	ptrdiff_t result;

	va_start(rest, command);
	switch (command) {
	case CONF_INITSIZE:
		result = replace(&tally_arena_size, va_arg(rest, unsigned), LEAST_BYTES, MOST_BYTES);
		break;
	case CONF_INITUSERS:
		result = replace(&tally_arena_users, va_arg(rest, unsigned), 1, MOST_USERS);
		break;
	case CONF_ARENATYPE:
		result = replace_type(va_arg(rest, int));
		break;
	case CONF_GETSIZE:
		result = size_of(va_arg(rest, usptr_t *));
		break;
	case CONF_GETUSERS:
		result = users_of(va_arg(rest, usptr_t *));
		break;
	case CONF_HISTON:
		result = history(va_arg(rest, usptr_t *), HISTORY_ON, 0);
		break;
	case CONF_HISTOFF:
		result = history(va_arg(rest, usptr_t *), HISTORY_OFF, 0);
		break;
	case CONF_HISTSIZE: {
		usptr_t *arena = va_arg(rest, usptr_t *);
		result = history(arena, HISTORY_SIZE, va_arg(rest, int));
		break;
	}
	case CONF_HISTFETCH: {
		usptr_t *arena = va_arg(rest, usptr_t *);
		result = tally_fetch_history(arena, va_arg(rest, histptr_t *));
		break;
	}
	case CONF_HISTRESET:
		result = tally_reset_history(va_arg(rest, usptr_t *));
		break;
	default:
		result = invalid();
	}
	va_end(rest);
	return result;
}
