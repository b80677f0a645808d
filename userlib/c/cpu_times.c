#include <sys/lwp.h>

#include "call.h"

int cpu_times(processorid_t cpu, struct cpu_times *times)
{
	return report(call2(TALLY_SYS_cpu_times, cpu, (long)times));
}
