#include <sys/lwp.h>

#include "call.h"

pid_t proc_next(pid_t after, struct proc_info *info)
{
	return report(call2(TALLY_SYS_proc_next, after, (long)info));
}
