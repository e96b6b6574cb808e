/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forbids itself execve, or every way to make a process, by a filter with each of the actions,
 * before or after its server starts. With "trap" it handles SIGSYS and makes the call fail, as
 * sandboxes do. usage: seccomp before|after execve|clone errno|trap|thread|process
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#ifndef SYS_fork
#define SYS_fork (-1)
#define SYS_vfork (-1)
#endif

static void on_sigsys(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)signal_number;
	(void)info;
#if defined(__x86_64__)
	c->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
	c->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#endif
}

static unsigned find_action(const char *name)
{
	struct sigaction action;

	if (strcmp(name, "errno") == 0)
		return SECCOMP_RET_ERRNO | EPERM;
	if (strcmp(name, "thread") == 0)
		return SECCOMP_RET_KILL_THREAD;
	if (strcmp(name, "process") == 0)
		return SECCOMP_RET_KILL_PROCESS;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_sigsys;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSYS, &action, NULL);
	return SECCOMP_RET_TRAP;
}

static int forbid(const char *what, unsigned action)
{
	int execve[4] = {SYS_execve, SYS_execveat, SYS_execve, SYS_execve};
	int clone[4] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork};
	const int *nr = strcmp(what, "clone") == 0 ? clone : execve;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr[0], 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr[1], 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr[2], 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr[3], 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, action),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/*
 * Shows which calls work in the host. fork() of glibc 2.41 blocks all signals, and the kernel kills a
 * process whose SIGSYS is blocked, so this calls the kernel itself.
 */
static void work(bool may_fork)
{
	PTAP_SPAN("work");
	int status = -1;
	pid_t pid = may_fork ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : 0;

	if (may_fork && pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(errno);
	}
	if (pid < 0)
		printf("fork: %s\n", strerror(errno));
	else if (may_fork && waitpid(pid, &status, 0) == pid)
		printf("child: %#x\n", (unsigned)status);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool is_before = argc > 3 && strcmp(argv[1], "before") == 0;
	/* With "thread" and "process" a forbidden fork would kill the host. */
	bool may_fork =
		argc > 3 && (strcmp(argv[2], "execve") == 0 || strcmp(argv[3], "errno") == 0 ||
				    strcmp(argv[3], "trap") == 0);

	if (argc < 4)
		return 2;
	if (!is_before)
		GUEST_START();
	if (forbid(argv[2], find_action(argv[3]))) {
		perror("seccomp");
		return 2;
	}
	if (is_before)
		GUEST_START();
	work(may_fork);
	return 0;
}
