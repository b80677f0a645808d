/*
 * Memory runs out in every way that a program has (the issue: "out of memory is ENOMEM or the end of the asking process
 * with a clear line, never a panic"). Each way is gone in a process of its own; afterwards all of its memory is back.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* What is left to a process that wants all. */
#define LEFT (40UL << 20)
#define PAGE 4096UL

static unsigned long free_bytes(void)
{
	struct sysinfo info;
	CHECK(sysinfo(&info) == 0);
	return info.freeram * info.mem_unit;
}

static void write_pages(char *start, unsigned long bytes, char value)
{
	for (unsigned long at = 0; at < bytes; at += PAGE)
		start[at] = value;
}

static void touch_for_ever(char *(*more)(unsigned long))
{
	for (;;) {
		char *start = more(1 << 20);
		if (!start)
			_exit(1);
		write_pages(start, 1 << 20, 1);
	}
}

/* By the call itself: the library's function always refuses. */
static char *from_brk(unsigned long bytes)
{
	char *start = (char *)syscall(SYS_brk, 0);
	return (char *)syscall(SYS_brk, start + bytes) == start + bytes ? start : 0;
}

static char *map(unsigned long bytes, int protection, int kind)
{
	char *start = mmap(0, bytes, protection, kind | MAP_ANONYMOUS, -1, 0);
	return start == MAP_FAILED ? 0 : start;
}

static char *from_mmap(unsigned long bytes) { return map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE); }

static void break_grows(void) { touch_for_ever(from_brk); }
static void mappings_grow(void) { touch_for_ever(from_mmap); }

static int recurse(volatile char *above)
{
	volatile char frame[1000];
	frame[0] = *above;
	return *above < 0 ? 0 : recurse(frame) + frame[0];
}

static void stack_grows(void)
{
	volatile char start = 0;
	recurse(&start);
}

static void *sleep_for_ever(void *unused)
{
	for (;;)
		sleep(1000);
	return unused;
}

static void threads_multiply(void)
{
	int error = 0;
	while (!error) {
		pthread_t thread;
		error = pthread_create(&thread, 0, sleep_for_ever, 0);
	}
	_exit(error == EAGAIN ? 0 : 1);
}

static void mappings_multiply(void)
{
	int count = 0;
	while (map(PAGE, count % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE))
		count++;
	_exit(errno == ENOMEM && count > 1000 ? 0 : 1);
}

static void processes_multiply(void)
{
	static pid_t children[1 << 16];
	int count = 0;
	while ((children[count] = fork()) > 0)
		count++;
	if (children[count] == 0)
		sleep_for_ever(0);
	int error = errno;
	for (int child = 0; child < count; child++) {
		CHECK(kill(children[child], SIGKILL) == 0);
		CHECK(waitpid(children[child], 0, 0) == children[child]);
	}
	_exit((error == EAGAIN || error == ENOMEM) && count > 10 ? 0 : 1);
}

static void pipes_fill(void)
{
	static char bytes[PAGE];
	int ends[2];
	while (pipe2(ends, O_NONBLOCK) == 0)
		while (write(ends[1], bytes, sizeof bytes) > 0)
			;
	_exit(errno == EMFILE || errno == ENOMEM || errno == ENFILE ? 0 : 1);
}

static void shared_memory_grows(void)
{
	while (map(1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED))
		;
	_exit(errno == ENOMEM ? 0 : 1);
}

static void copies_are_written(void)
{
	unsigned long most = free_bytes() * 5 / 8;
	char *start = from_mmap(most);
	write_pages(start, most, 1);
	if (fork() == 0) {
		write_pages(start, most, 2);
		_exit(0);
	}
	int status;
	wait(&status);
	_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && start[0] == 1 ? 0 : 1);
}

static const struct {
	const char *name;
	void (*way)(void);
	/* The signal that may end it; with 0 it must exit with 0. */
	int signal;
	/* Whether it may also exit with 0. */
	int may_exit;
} ways[] = {
	{"the break grows", break_grows, SIGKILL, 0},
	{"mappings grow", mappings_grow, SIGKILL, 0},
	{"the stack grows", stack_grows, SIGSEGV, 0},
	{"threads multiply", threads_multiply, SIGKILL, 1},
	{"mappings multiply", mappings_multiply, SIGKILL, 1},
	{"processes multiply", processes_multiply, SIGKILL, 1},
	{"pipes fill", pipes_fill, 0, 1},
	{"shared memory grows", shared_memory_grows, 0, 1},
	{"copies are written", copies_are_written, 0, 1},
};

static void go(int way)
{
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		ways[way].way();
		_exit(2);
	}
	int status = 0;
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	/* Those that it made, if it could not end them itself. */
	kill(-child, SIGKILL);
	while (waitpid(-child, 0, 0) > 0)
		;
	int killed = WIFSIGNALED(status) && ways[way].signal && WTERMSIG(status) == ways[way].signal;
	int exited = WIFEXITED(status) && WEXITSTATUS(status) == 0 && ways[way].may_exit;
	if (!killed && !exited)
		printf("%s: status %#x\n", ways[way].name, status);
	CHECK(killed || exited);
}

/* A process that has all memory but LEFT, taken at once, which is sooner done than page by page. */
static pid_t hold_the_rest(void)
{
	int ends[2];
	char ready = 0;
	CHECK(pipe(ends) == 0);
	pid_t holder = fork();
	if (holder == 0) {
		unsigned long all = free_bytes();
		ready = all <= 2 * LEFT || map(all - LEFT, PROT_READ | PROT_WRITE, MAP_SHARED);
		CHECK(write(ends[1], &ready, 1) == 1);
		sleep_for_ever(0);
	}
	CHECK(holder > 0 && read(ends[0], &ready, 1) == 1 && ready);
	return holder;
}

int main(void)
{
	pid_t holder = hold_the_rest();
	for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
		/* What the kernel keeps for the next time does not grow for ever. */
		unsigned long before, after = 0;
		int times = 0;
		do {
			before = free_bytes();
			go(way);
			after = free_bytes();
		} while (after != before && ++times < 6);
		if (after != before)
			printf("%s: %ld KiB are not back\n", ways[way].name, (long)(before - after) / 1024);
		CHECK(after == before);
	}
	CHECK(kill(holder, SIGKILL) == 0 && waitpid(holder, 0, 0) == holder);
	return 0;
}
