#include <sys/lwp.h>

#include "call.h"

/* Both hand back the error's number itself, as the man page has it, and leave errno alone. */

int _lwp_info(struct lwpinfo *buffer)
{
	return (int)-call2(TALLY_SYS_lwp_info, (long)buffer, 0);
}

int _lwp_info32(struct lwpinfo32 *buffer)
{
	return (int)-call2(TALLY_SYS_lwp_info32, (long)buffer, 0);
}
