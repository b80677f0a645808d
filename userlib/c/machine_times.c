#include <sys/lwp.h>

#include "call.h"

int machine_times(struct machine_times *times)
{
	return report(call2(TALLY_SYS_machine_times, (long)times, 0));
}
