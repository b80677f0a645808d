#include <sys/lwp.h>

#include "call.h"

int proc_times(pid_t pid, struct proc_times *times)
{
	return report(call2(TALLY_SYS_proc_times, pid, (long)times));
}
