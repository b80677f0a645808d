#include <sys/pset.h>

#include "call.h"

int pset_getloadavg(psetid_t id, double averages[], int count)
{
	return report(call4(TALLY_SYS_pset_getloadavg, id, (long)averages, count, 0));
}
