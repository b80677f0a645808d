/*
 * fault KIND: does what the kernel ends a program for. `fault list` prints each kind with the signal that must end
 * it. Where the program survives it says so and exits with 1.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/thread.h>
#include <unistd.h>

typedef void (*code)(void);

static const char text[] = "read-only";
static unsigned char ret[] = {0xc3};

static volatile char *at(uintptr_t address)
{
	return (volatile char *)address;
}

static void read_null(void) { (void)*at(0); }
static void write_null(void) { *at(0) = 1; }
static void write_text(void) { *at((uintptr_t)&write_text) = 1; }
static void write_rodata(void) { *at((uintptr_t)text) = 1; }
static void exec_data(void) { ((code)(uintptr_t)ret)(); }
static void exec_null(void) { ((code)0)(); }
static void read_noncanonical(void) { (void)*at(0x800000000000); }
static void write_noncanonical(void) { *at(0xdeadbeefdeadbeef) = 1; }
static void read_last_page(void) { (void)*at(0x7ffffffff000); }
static void read_kernel(void) { (void)*at(0xffffffff80200000); }
static void write_kernel(void) { *at(0xffffffff80200000) = 1; }
static void read_direct_map(void) { (void)*at(0xffff800000100000); }
static void exec_kernel(void) { ((code)0xffffffff80200000)(); }

static void exec_noncanonical(void)
{
	__asm__ volatile("jmp *%0" ::"r"(0x800000000000));
}

static void exec_stack(void)
{
	unsigned char on_stack[] = {0xc3};
	((code)(uintptr_t)on_stack)();
}

static void exec_heap(void)
{
	unsigned char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 0xc3;
	((code)(uintptr_t)page)();
}

static void read_no_access(void)
{
	(void)*(volatile char *)mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void use_unmapped(void)
{
	volatile char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 1;
	munmap((void *)page, 4096);
	*page = 1;
}

static int recurse(volatile char *above)
{
	volatile char frame[512];
	frame[0] = *above;
	return *above < 0 ? 0 : recurse(frame) + frame[0];
}

static void stack_overflow(void)
{
	volatile char start = 0;
	recurse(&start);
}

static void push_without_stack(void)
{
	__asm__ volatile("mov $0x1000, %rsp; push %rax");
}

static void divide(void)
{
	__asm__ volatile("xor %%ecx, %%ecx; div %%ecx" ::: "eax", "ecx", "edx");
}

/* (No division by zero in SSE: QEMU's emulated CPU does not raise that exception.) */
static void x87_divide(void)
{
	unsigned short control = 0x037f & ~(1u << 2);
	__asm__ volatile("fldcw %0; fld1; fldz; fdivrp; fwait" ::"m"(control));
}

static void illegal(void) { __asm__ volatile("ud2"); }
static void breakpoint(void) { __asm__ volatile("int3"); }
static void cli(void) { __asm__ volatile("cli"); }
static void sti(void) { __asm__ volatile("sti"); }
static void hlt(void) { __asm__ volatile("hlt"); }
static void in_port(void) { __asm__ volatile("inb $0x60, %%al" ::: "al"); }
static void out_port(void) { __asm__ volatile("outb %%al, $0xf4" ::: "memory"); }
static void read_cr3(void) { __asm__ volatile("mov %%cr3, %%rax" ::: "rax"); }
static void write_cr0(void) { __asm__ volatile("mov %%rax, %%cr0" ::: "memory"); }
static void rdmsr(void) { __asm__ volatile("rdmsr" ::"c"(0xc0000082) : "rax", "rdx"); }
static void wrmsr(void) { __asm__ volatile("wrmsr" ::"c"(0xc0000082), "a"(0), "d"(0)); }
static void swapgs(void) { __asm__ volatile("swapgs"); }
static void sysret(void) { __asm__ volatile("sysretq"); }
static void lgdt(void) { __asm__ volatile("lgdt (%rsp)"); }
static void interrupt_gate(void) { __asm__ volatile("int $0x20"); }
static void double_fault_gate(void) { __asm__ volatile("int $8"); }
static void bad_selector(void) { __asm__ volatile("mov %0, %%ds" ::"r"(0x7ff8)); }

static void single_step(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%rsp); popfq; nop");
}

/* The kernel must run with the flag clear; the trap comes back in user mode. */
static void single_step_call(void)
{
	__asm__ volatile("mov $110, %%eax; pushfq; orq $0x100, (%%rsp); popfq; syscall; nop; nop" ::: "rax", "rcx", "r11");
}

static void nested_task(void)
{
	__asm__ volatile("pushfq; orq $0x4000, (%rsp); popfq; iretq");
}

/* The stack pointer is none while the kernel is entered: only the fault behind it may end the program. */
static void syscall_without_stack(void)
{
	__asm__ volatile("mov $39, %%eax; mov %0, %%rsp; syscall; push %%rax" ::"r"(0xffff8000deadbeef) : "rax", "rcx", "r11");
}

/* The library stores what it got about the caller, as on AIX: no EFAULT, but a fault. */
static void store_own_cputime(void) { thread_cputime(-1, NULL); }

static const struct kind {
	const char *name;
	code run;
	int signal;
} kinds[] = {
	{"null", read_null, SIGSEGV},
	{"null-write", write_null, SIGSEGV},
	{"write-text", write_text, SIGSEGV},
	{"write-rodata", write_rodata, SIGSEGV},
	{"exec-null", exec_null, SIGSEGV},
	{"exec-data", exec_data, SIGSEGV},
	{"exec-stack", exec_stack, SIGSEGV},
	{"exec-heap", exec_heap, SIGSEGV},
	{"exec-kernel", exec_kernel, SIGSEGV},
	{"exec-noncanonical", exec_noncanonical, SIGSEGV},
	{"noncanonical", read_noncanonical, SIGSEGV},
	{"noncanonical-write", write_noncanonical, SIGSEGV},
	{"last-page", read_last_page, SIGSEGV},
	{"kernel-read", read_kernel, SIGSEGV},
	{"kernel-write", write_kernel, SIGSEGV},
	{"direct-map-read", read_direct_map, SIGSEGV},
	{"no-access", read_no_access, SIGSEGV},
	{"unmapped", use_unmapped, SIGSEGV},
	{"stack-overflow", stack_overflow, SIGSEGV},
	{"no-stack", push_without_stack, SIGSEGV},
	{"syscall-no-stack", syscall_without_stack, SIGSEGV},
	{"divide", divide, SIGFPE},
	{"x87-divide", x87_divide, SIGFPE},
	{"illegal", illegal, SIGILL},
	{"breakpoint", breakpoint, SIGTRAP},
	{"single-step", single_step, SIGTRAP},
	{"single-step-call", single_step_call, SIGTRAP},
	{"nested-task", nested_task, SIGSEGV},
	{"cli", cli, SIGSEGV},
	{"sti", sti, SIGSEGV},
	{"privileged", hlt, SIGSEGV},
	{"in", in_port, SIGSEGV},
	{"out", out_port, SIGSEGV},
	{"read-cr3", read_cr3, SIGSEGV},
	{"write-cr0", write_cr0, SIGSEGV},
	{"rdmsr", rdmsr, SIGSEGV},
	{"wrmsr", wrmsr, SIGSEGV},
	{"swapgs", swapgs, SIGSEGV},
	{"sysret", sysret, SIGSEGV},
	{"lgdt", lgdt, SIGSEGV},
	{"interrupt-gate", interrupt_gate, SIGSEGV},
	{"double-fault-gate", double_fault_gate, SIGSEGV},
	{"bad-selector", bad_selector, SIGSEGV},
	{"thread-cputime", store_own_cputime, SIGSEGV},
};

int main(int argc, char *argv[])
{
	const char *name = argc > 1 ? argv[1] : "";
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(name, "list") == 0) {
			printf("%s %d\n", kinds[i].name, kinds[i].signal);
		} else if (strcmp(name, kinds[i].name) == 0) {
			kinds[i].run();
			printf("fault %s: survived\n", name);
			return 1;
		}
	}
	if (strcmp(name, "list") == 0)
		return 0;
	fputs("usage: fault KIND, or: fault list\n", stderr);
	return 2;
}
