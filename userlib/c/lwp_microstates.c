#include <sys/lwp.h>

#include "call.h"

int lwp_microstates(tid_t tid, struct lwp_microstates *states)
{
	return report(call2(TALLY_SYS_lwp_microstates, tid, (long)states));
}
