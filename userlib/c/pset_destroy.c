#include <sys/pset.h>

#include "call.h"

int pset_destroy(psetid_t id)
{
	return report(call2(TALLY_SYS_pset_destroy, id, 0));
}
