#include <sys/pset.h>

#include "call.h"

int pset_create(psetid_t *id)
{
	return report(call2(TALLY_SYS_pset_create, (long)id, 0));
}
