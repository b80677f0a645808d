#include <sys/pset.h>

#include "call.h"

int pset_list(psetid_t *ids, uint_t *count)
{
	return report(call2(TALLY_SYS_pset_list, (long)ids, (long)count));
}
