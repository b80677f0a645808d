/*
 * P and V. The first eight bytes of a semaphore are the word that user mode and the kernel share: while it is open, that is
 * not negative, the upper half is the count, and the lower half counts V's (kernel/core/src/sema/word.rs). What cannot be
 * done here is done by the kernel, which is told where the call came from.
 */

#include "arena.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN int tally_acquire(usema_t *sema, void *pc, int how, const struct timespec *patience)
{
	return report(call4(TALLY_SYS_sema_acquire, (long)sema, (long)pc, how, (long)patience));
}

HIDDEN int tally_release(usema_t *sema, void *pc)
{
	return report(call2(TALLY_SYS_sema_release, (long)sema, (long)pc));
}

/*
 * An address without bit 44 is no arena's: NULL first of all. P takes a token off the count, and leaves the word alone where
 * the count would become negative, or the counter of V's is half full and has to be emptied by the kernel.
 */
__asm__(".text\n"
	".macro acquire name, how\n"
	"	.globl	\\name\n"
	"	.type	\\name, @function\n"
	"	.p2align 4\n"
	"\\name:\n"
	"	bt	$44, %rdi\n"
	"	jnc	2f\n"
	"	mov	(%rdi), %rax\n"
	"1:	movabs	$-0x100000000, %rdx\n"
	"	add	%rax, %rdx\n"
	"	js	2f\n"
	"	test	%eax, %eax\n"
	"	js	2f\n"
	"	lock cmpxchg %rdx, (%rdi)\n"
	"	jne	1b\n"
	"	mov	$1, %eax\n"
	"	ret\n"
	"2:	mov	(%rsp), %rsi\n"
	"	mov	$\\how, %edx\n"
	"	xor	%ecx, %ecx\n"
	"	jmp	tally_acquire\n"
	"	.size	\\name, . - \\name\n"
	".endm\n"
	"	acquire	uspsema, 0\n"
	"	acquire	uscpsema, 1\n"
	"	.globl	usvsema\n"
	"	.type	usvsema, @function\n"
	"	.p2align 4\n"
	"usvsema:\n"
	"	bt	$44, %rdi\n"
	"	jnc	2f\n"
	"	mov	(%rdi), %rax\n"
	"1:	movabs	$0x100000001, %rdx\n"
	"	add	%rax, %rdx\n"
	"	js	2f\n"
	"	lock cmpxchg %rdx, (%rdi)\n"
	"	jne	1b\n"
	"	xor	%eax, %eax\n"
	"	ret\n"
	"2:	mov	(%rsp), %rsi\n"
	"	jmp	tally_release\n"
	"	.size	usvsema, . - usvsema\n"
	".purgem acquire\n");

int uspsema_timed(usema_t *sema, const struct timespec *patience)
{
	return tally_acquire(sema, __builtin_return_address(0), PATIENCE_TIMED, patience);
}

int ustestsema(usema_t *sema)
{
	/* What the kernel adds, so that no answer looks like an error. */
	const long bias = 1L << 31;
	long answer = call2(TALLY_SYS_sema_test, (long)sema, 0);

	if (answer < 0) {
		errno = (int)-answer;
		return -1;
	}
	return (int)(answer - bias);
}
