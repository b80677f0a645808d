/* Processor sets: what is not wanted, or has no room, is not written. (Pointers that may not be followed: pset_pointers.c.) */
#include "pset.h"

static psetid_t set; /* has the second CPU, if there is one */

/* Every choice of pointers that are wanted: those get their value, and the others' places stay. */
static void null_pointers(void)
{
	for (int wanted = 0; wanted < 8; wanted++) {
		int type = 77;
		uint_t count = 1, many = 1;
		processorid_t cpu = 77;
		psetid_t id = 77;

		CHECK(pset_info(PS_NONE, wanted & 1 ? &type : NULL, wanted & 2 ? &count : NULL,
				wanted & 4 ? &cpu : NULL) == 0);
		CHECK(type == (wanted & 1 ? PS_NONE : 77));
		CHECK(count == (wanted & 2 && cpus() > 1 ? (uint_t)cpus() - 1 : 1));
		CHECK(cpu == ((wanted & 6) == 6 ? 0 : 77)); /* no count: no room */
		many = 4;
		CHECK(pset_list(wanted & 1 ? &id : NULL, wanted & 2 ? &many : NULL) == 0);
		CHECK(many == (wanted & 2 ? 1 : 4) && id == ((wanted & 3) == 3 ? set : 77));
	}
}

/* Where there is no room, or nothing to store, no pointer is followed. */
static void no_room(void)
{
	uint_t count = 0;

	CHECK(pset_info(PS_NONE, NULL, &count, BAD) == 0);
	CHECK(pset_info(PS_NONE, NULL, NULL, BAD) == 0);
	count = 0;
	CHECK(pset_list(BAD, &count) == 0 && count == 1);
	CHECK(pset_list(BAD, NULL) == 0);
	CHECK(pset_getloadavg(set, BAD, 0) == 0);
}

int main(void)
{
	set = made();
	if (cpus() > 1)
		CHECK(pset_assign(set, 1, NULL) == 0);
	null_pointers();
	no_room();
	CHECK(pset_destroy(set) == 0);
	return 0;
}
