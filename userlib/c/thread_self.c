#include <sys/thread.h>

#include "call.h"

tid_t thread_self(void)
{
	return (tid_t)call2(TALLY_SYS_thread_self, 0, 0);
}
