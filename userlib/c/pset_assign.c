#include <sys/pset.h>

#include "call.h"

int pset_assign(psetid_t id, processorid_t cpu, psetid_t *old)
{
	return report(call4(TALLY_SYS_pset_assign, id, cpu, (long)old, 0));
}
