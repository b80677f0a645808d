/* How the library enters the kernel. */
#ifndef TALLY_CALL_H
#define TALLY_CALL_H

#include <errno.h>
#include <tally/syscall.h>

/* A call as the registers are: a result, or minus an error's number. */
static inline long call2(long number, long first, long second)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long call4(long number, long first, long second, long third, long fourth)
{
	register long rdx __asm__("rdx") = third, r10 __asm__("r10") = fourth;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "r"(rdx), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/* The usual way to report: the result, or -1 with errno. */
static inline int report(long result)
{
	if (result >= 0)
		return (int)result;
	errno = (int)-result;
	return -1;
}

#endif
