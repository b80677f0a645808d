/* Processor sets: a call that is given a pointer which it may not follow says EFAULT, writes nothing and does nothing; with a
 * good one it writes its own bytes and no others, even where they are the last before a hole. */
#include <sys/mman.h>

#include "pset.h"

#define PAGE 4096
#define FILL 0x55 /* no byte of what is stored here has this value */

static int two;      /* whether there is a second CPU */
static psetid_t set; /* has it */
static char *page;   /* the only one here that may be written; behind it is a hole */
static char *read_only, *no_access;

static void make_pages(void)
{
	char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	page = pages;
	read_only = pages + 2 * PAGE;
	no_access = pages + 3 * PAGE;
	memset(page, FILL, PAGE);
	memset(read_only, FILL, PAGE);
	CHECK(munmap(page + PAGE, PAGE) == 0);
	CHECK(mprotect(read_only, PAGE, PROT_READ) == 0 && mprotect(no_access, PAGE, PROT_NONE) == 0);
}

/* Whether bytes from..to of the page, and no others, were written. The page is as before then. */
static int written(size_t from, size_t to)
{
	int right = 1;

	for (size_t at = 0; at < PAGE; at++)
		right &= (page[at] != FILL) == (at >= from && at < to) && read_only[at] == FILL;
	memset(page, FILL, PAGE);
	return right;
}

/* Nothing has moved. */
static int at_rest(void)
{
	return sets() == 1 && set_of(0) == PS_NONE && (!two || set_of(1) == set) && binding() == PS_NONE &&
	       bound_cpu(P_MYID) == PBIND_NONE;
}

/* The calls: each does something with a pointer, and undoes it where it was done. */

static int create(void *place)
{
	psetid_t made;
	int result = pset_create(place);

	if (result == 0) {
		memcpy(&made, place, sizeof made); /* the place may be odd */
		CHECK(pset_destroy(made) == 0);
	}
	return result;
}

static int ask_cpu(void *place)
{
	return pset_assign(PS_QUERY, 0, place);
}

static int move_cpu(void *place)
{
	int result = pset_assign(PS_NONE, two, place);

	if (two && result == 0)
		CHECK(set_of(1) == PS_NONE && pset_assign(set, 1, NULL) == 0);
	return result;
}

static int ask_binding(void *place)
{
	return pset_bind(PS_QUERY, P_LWPID, P_MYID, place);
}

static int bind_here(void *place)
{
	int result = pset_bind(two ? set : PS_NONE, P_PID, P_MYID, place);

	CHECK(result || pset_bind(PS_NONE, P_PID, P_MYID, NULL) == 0);
	return result;
}

static int unbind_all(void *place)
{
	return pset_bind(PS_NONE, P_ALL, 0, place);
}

static int bind_cpu(void *place)
{
	int result = processor_bind(P_LWPID, P_MYID, 0, place);

	CHECK(result || processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL) == 0);
	return result;
}

static int info_type(void *place)
{
	return pset_info(set, place, NULL, NULL);
}

static int info_count(void *place)
{
	return pset_info(set, NULL, place, NULL);
}

static int info_cpus(void *place)
{
	uint_t count = 1;
	return pset_info(PS_NONE, NULL, &count, place);
}

static int list_count(void *place)
{
	return pset_list(NULL, place);
}

static int list_ids(void *place)
{
	uint_t count = 5;
	int result = pset_list(place, &count);

	CHECK(count == (result ? 5 : 1));
	return result;
}

static int one_average(void *place)
{
	return pset_getloadavg(set, place, 1) - 1;
}

static int two_averages(void *place)
{
	return pset_getloadavg(set, place, 2) - 2;
}

static int all_averages(void *place)
{
	return pset_getloadavg(set, place, 1000) - 3;
}

static void try(const char *name, int (*call)(void *), size_t size, int may_be_null)
{
	void *volatile none[] = {BAD, page + PAGE, read_only, no_access, read_only + PAGE - 1, (void *)written,
				 (void *)"constant", (void *)0x7ffffffffffe, (void *)0x900000000000,
				 (void *)0xffff800000100000, (void *)0xffffffff80200000, (void *)-1L, (void *)-3L};

	fprintf(stderr, "%s\n", name);
	for (size_t which = 0; which < sizeof none / sizeof *none; which++) {
		errno = 0;
		CHECK(call(none[which]) < 0 && errno == EFAULT);
		CHECK(written(0, 0) && at_rest());
	}
	for (size_t short_by = 1; short_by < size; short_by++) {
		errno = 0;
		CHECK(call(page + PAGE - size + short_by) < 0 && errno == EFAULT);
		CHECK(written(0, 0) && at_rest());
	}
	CHECK(call(page + PAGE - size) == 0 && written(PAGE - size, PAGE));
	CHECK(call(page + 3) == 0 && written(3, 3 + size));
	errno = 0;
	CHECK(may_be_null ? call(NULL) == 0 : call(NULL) < 0 && errno == EFAULT);
	CHECK(written(0, 0) && at_rest());
}

int main(void)
{
	make_pages();
	set = made();
	two = cpus() > 1;
	if (two)
		CHECK(pset_assign(set, 1, NULL) == 0);
	try("pset_create", create, sizeof(psetid_t), 0);
	try("pset_assign, a query", ask_cpu, sizeof(psetid_t), 1);
	try("pset_assign", move_cpu, sizeof(psetid_t), 1);
	try("pset_bind, a query", ask_binding, sizeof(psetid_t), 1);
	try("pset_bind", bind_here, sizeof(psetid_t), 1);
	try("pset_bind, P_ALL", unbind_all, sizeof(psetid_t), 1);
	try("processor_bind", bind_cpu, sizeof(processorid_t), 1);
	try("pset_info, type", info_type, sizeof(int), 1);
	try("pset_info, count", info_count, sizeof(uint_t), 1);
	try("pset_info, CPUs", info_cpus, sizeof(processorid_t), 1);
	try("pset_list, count", list_count, sizeof(uint_t), 1);
	try("pset_list, ids", list_ids, sizeof(psetid_t), 1);
	try("pset_getloadavg, one", one_average, sizeof(double), 0);
	try("pset_getloadavg, two", two_averages, 2 * sizeof(double), 0);
	try("pset_getloadavg, all", all_averages, 3 * sizeof(double), 0);
	CHECK(pset_destroy(set) == 0);
	return 0;
}
