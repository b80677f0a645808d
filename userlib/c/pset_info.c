#include <sys/pset.h>

#include "call.h"

int pset_info(psetid_t id, int *type, uint_t *count, processorid_t *cpus)
{
	return report(call4(TALLY_SYS_pset_info, id, (long)type, (long)count, (long)cpus));
}
