#include <sys/pset.h>

#include "call.h"

int pset_bind(psetid_t id, idtype_t kind, id_t who, psetid_t *old)
{
	return report(call4(TALLY_SYS_pset_bind, id, kind, who, (long)old));
}
