/* Processes as the C library makes them: fork, vfork, exec, wait, posix_spawn. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

static const char *self;

static int ends(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* What this program does when it is run by itself. */
static int as_child(int argc, char *argv[])
{
	CHECK(argc == 3 && strcmp(argv[2], "two words") == 0);
	CHECK(getenv("CHILD") && strcmp(getenv("CHILD"), "yes") == 0);
	return 42;
}

static void forks(void)
{
	int mine = 1;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		mine = 2;
		_exit(getppid() == 1 && getpid() != 1 && mine == 2 ? 7 : 1);
	}
	int status = ends(pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK(mine == 1);
	CHECK(waitpid(pid, &status, 0) == -1 && errno == ECHILD);
}

static void borrows(void)
{
	static volatile int seen;
	pid_t pid = vfork();
	CHECK(pid >= 0);
	if (pid == 0) {
		seen = 1;
		_exit(9);
	}
	CHECK(seen == 1);
	CHECK(WEXITSTATUS(ends(pid)) == 9);
}

static void runs_another(void)
{
	char *argv[] = {"child", "child", "two words", NULL};
	char *env[] = {"CHILD=yes", NULL};
	pid_t pid = fork();
	if (pid == 0) {
		execve("/missing", argv, env);
		CHECK(errno == ENOENT);
		execve(self, argv, env);
		_exit(1);
	}
	CHECK(WEXITSTATUS(ends(pid)) == 42);
	CHECK(posix_spawn(&pid, self, NULL, NULL, argv, env) == 0);
	CHECK(WEXITSTATUS(ends(pid)) == 42);
	CHECK(posix_spawn(&pid, "/missing", NULL, NULL, argv, env) == ENOENT);
}

static void is_killed(void)
{
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	CHECK(kill(pid, 0) == 0);
	CHECK(kill(pid, SIGTERM) == 0);
	int status = ends(pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	CHECK(kill(pid, 0) == -1 && errno == ESRCH);
}

int main(int argc, char *argv[])
{
	self = argv[0];
	if (argc > 1)
		return as_child(argc, argv);
	forks();
	borrows();
	runs_another();
	is_killed();
	puts("all right");
	return 0;
}
