#include <sys/processor.h>

#include "call.h"

int cpu_info(processorid_t cpu, struct cpu_info *info)
{
	return report(call2(TALLY_SYS_cpu_info, cpu, (long)info));
}
