/* lwp_microstates and cpu_times: sums, errors, headers alone. */
#include <sys/lwp.h>

#include <errno.h>
#include <unistd.h>

#include "check.h"

_Static_assert(sizeof(struct lwp_microstates) == 48, "six numbers");
_Static_assert(sizeof(struct cpu_times) == 40, "five numbers");

int main(void)
{
	struct lwp_microstates states;
	struct cpu_times times;
	processorid_t cpu;

	/* On a busy host a sleep may be over before the sleeper has fallen asleep: again, then. */
	do {
		usleep(2000);
		CHECK(lwp_microstates(-1, &states) == 0);
	} while (states.sleeping < 1000000);
	unsigned long long sum = states.user + states.system + states.runnable + states.sleeping + states.stopped;
	CHECK(sum <= states.lifetime && states.lifetime - sum < 5);
	CHECK(states.stopped == 0);

	for (cpu = 0; cpu_times(cpu, &times) == 0; cpu++) {
		sum = times.user + times.system + times.irq + times.idle;
		CHECK(sum <= times.up && times.up - sum < 4);
	}
	CHECK(cpu > 0 && errno == EINVAL);

	CHECK(lwp_microstates(0, &states) == -1 && errno == EINVAL);
	CHECK(lwp_microstates(2147483647, &states) == -1 && errno == ESRCH);
	CHECK(lwp_microstates(-1, NULL) == -1 && errno == EFAULT);
	CHECK(cpu_times(0, NULL) == -1 && errno == EFAULT);
	CHECK(cpu_times(-1, &times) == -1 && errno == EINVAL);
	return 0;
}
