#include <sys/processor.h>

#include "call.h"

int processor_bind(idtype_t kind, id_t id, processorid_t cpu, processorid_t *old)
{
	return report(call4(TALLY_SYS_processor_bind, kind, id, cpu, (long)old));
}
