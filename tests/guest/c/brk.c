/* The end of the data segment: where it is, growing, shrinking, fresh pages zero, too much refused. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static uintptr_t brk_to(uintptr_t end)
{
	return (uintptr_t)syscall(SYS_brk, end);
}

int main(void)
{
	uintptr_t start = brk_to(0);
	CHECK(start != 0);
	CHECK(brk_to(start) == start);

	uintptr_t end = start + 100000;
	CHECK(brk_to(end) == end);
	volatile unsigned char *data = (volatile unsigned char *)start;
	for (int i = 0; i < 100000; i++)
		CHECK(data[i] == 0);
	for (int i = 0; i < 100000; i++)
		data[i] = 0xee;

	CHECK(brk_to(start) == start);
	CHECK(brk_to(end) == end);
	/* The rest of the page that the end lies in stays; every page behind it is fresh. */
	uintptr_t page = (start + 4095) & ~(uintptr_t)4095;
	for (uintptr_t at = page; at < end; at++)
		CHECK(*(volatile unsigned char *)at == 0);

	/* What cannot be is answered with where the end is. */
	CHECK(brk_to(1) == end);
	CHECK(brk_to(start - 4096) == end);
	CHECK(brk_to(UINTPTR_MAX) == end);
	CHECK(brk_to(0x7ffffffff000) == end);
	CHECK(brk_to(0xffff800000000000) == end);
	CHECK(brk_to(start) == start);
	return 0;
}
