/* SPDX-License-Identifier: Apache-2.0 */
/* Forked children that are confined; see confine.h. */
#include "tests/programs/confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <proftap/proftap.h>

#include "tests/programs/prefork.h"

#define LIFE_S 60
#define NOBODY 65534
/* No other process runs as this user. */
#define LONELY_UID 54321

static int enter_chroot(const char *dir)
{
	return chroot(dir) || chdir("/") || setresgid(NOBODY, NOBODY, NOBODY) ||
	       setresuid(NOBODY, NOBODY, NOBODY);
}

static int forbid_privileges(const char *unused)
{
	(void)unused;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int enter_network(const char *unused)
{
	(void)unused;
	return unshare(CLONE_NEWNET);
}

/*
 * Forks a child that is PID 1 of a new namespace. The child returns; the parent waits for its end.
 */
static int enter_pids(const char *unused)
{
	pid_t pid;

	(void)unused;
	if (unshare(CLONE_NEWPID))
		return -1;
	pid = fork();
	if (pid <= 0)
		return pid;
	printf("%d\n", (int)pid);
	waitpid(pid, NULL, 0);
	_exit(0);
}

/*
 * Checks that the next child is PID 1 of a new namespace: the annotation before its fork must not
 * have started a process there.
 */
static int unshare_pids(const char *unused)
{
	int status = 0;
	pid_t pid;

	(void)unused;
	if (unshare(CLONE_NEWPID))
		return -1;
	PTAP_INSTANT("unshared");
	pid = fork();
	if (pid == 0)
		_exit((int)getpid());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		WEXITSTATUS(status) != 1) {
		errno = ECHILD;
		return -1;
	}
	return 0;
}

static int forbid_sockets(unsigned action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int refuse_sockets(const char *unused)
{
	(void)unused;
	return forbid_sockets(SECCOMP_RET_ERRNO | EPERM);
}

static int die_of_sockets(const char *unused)
{
	(void)unused;
	return forbid_sockets(SECCOMP_RET_KILL_PROCESS);
}

static int fill_table(const char *unused)
{
	const struct rlimit none = {3, 3};

	(void)unused;
	return setrlimit(RLIMIT_NOFILE, &none);
}

static int limit_processes(const char *unused)
{
	const struct rlimit one = {1, 1};

	(void)unused;
	return setrlimit(RLIMIT_NPROC, &one) || setresuid(LONELY_UID, LONELY_UID, LONELY_UID);
}

/* Forks twice. Only the grandchild returns, after its parent has exited. */
static int fork_twice(const char *unused)
{
	pid_t parent = getpid();

	(void)unused;
	if (fork())
		_exit(0);
	while (getppid() == parent)
		usleep(1000);
	return 0;
}

static void annotate_in_handler(int number)
{
	(void)number;
	PTAP_INSTANT("handled");
}

static int handle_signal(const char *unused)
{
	(void)unused;
	return signal(SIGUSR1, annotate_in_handler) == SIG_ERR || raise(SIGUSR1);
}

/* A child that shares this process's memory annotates, and exits. */
static int annotate_in_vfork(const char *unused)
{
	int status;
	pid_t pid = vfork();

	(void)unused;
	if (pid == 0) {
		PTAP_INSTANT("of a vfork");
		_exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static int wait_for_file(const char *path)
{
	while (access(path, F_OK))
		usleep(1000);
	return 0;
}

static int take_name(const char *name)
{
	return prctl(PR_SET_NAME, name);
}

static const struct {
	const char *name;
	int (*confine)(const char *argument);
} kinds[] = {
	{"chroot", enter_chroot},
	{"no_new_privs", forbid_privileges},
	{"network", enter_network},
	{"pids", enter_pids},
	{"unshared", unshare_pids},
	{"seccomp-errno", refuse_sockets},
	{"seccomp-kill", die_of_sockets},
	{"descriptors", fill_table},
	{"processes", limit_processes},
	{"twice", fork_twice},
	{"handler", handle_signal},
	{"vfork", annotate_in_vfork},
	{"name", take_name},
	{"later", wait_for_file},
};

static _Noreturn void live(size_t kind, const char *argument)
{
	bool is_first_of_namespace;

	alarm(LIFE_S);
	if (kinds[kind].confine(argument)) {
		printf("%s: %s\n", kinds[kind].name, strerror(errno));
		_exit(1);
	}
	is_first_of_namespace = getpid() == 1;
	PTAP_INSTANT("hello");
	/* For PID 1 of a namespace its parent has printed the pid that is valid outside. */
	if (!is_first_of_namespace)
		printf("%d\n", (int)getpid());
	prefork_work();
}

void confine(char *arguments)
{
	char kind[32] = "";
	char argument[256] = "";

	fflush(stdout);
	sscanf(arguments, "%31s %255s", kind, argument);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, kind) == 0 && fork() == 0)
			live(i, argument);
}
