/* SPDX-License-Identifier: Apache-2.0 */
/* A target that confines itself; see sandbox.h. */
#include "tests/programs/sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 8

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"execve", SYS_execve},
	{"execveat", SYS_execveat},
	{"socket", SYS_socket},
	{"connect", SYS_connect},
	{"sendmsg", SYS_sendmsg},
	{"recvmsg", SYS_recvmsg},
	{"perf_event_open", SYS_perf_event_open},
};

static const struct {
	const char *name;
	unsigned action;
} actions[] = {
	{"errno", SECCOMP_RET_ERRNO | EPERM},
	{"thread", SECCOMP_RET_KILL_THREAD},
	{"process", SECCOMP_RET_KILL_PROCESS},
};

static int forbid(unsigned action, const unsigned *numbers, unsigned n)
{
	struct sock_filter filter[2 * MAX_CALLS + 2];
	struct sock_fprog program = {.filter = filter};

	filter[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < n; i++) {
		filter[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
		       ? -1
		       : 0;
}

static int forbid_named(unsigned action, char *names)
{
	unsigned numbers[MAX_CALLS];
	unsigned n = 0;

	for (char *name = strtok(names, " "); name && n < MAX_CALLS; name = strtok(NULL, " "))
		for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
			if (strcmp(calls[i].name, name) == 0)
				numbers[n++] = calls[i].number;
	return n ? forbid(action, numbers, n) : -1;
}

static int confine_itself(const char *kind, char *rest)
{
	if (strcmp(kind, "subreaper") == 0)
		return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (strcmp(kind, "undumpable") == 0)
		return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (strcmp(actions[i].name, kind) == 0)
			return forbid_named(actions[i].action, rest);
	return -1;
}

void sandbox(char *arguments)
{
	char *rest = arguments;
	const char *kind = strsep(&rest, " ");

	printf("%d\n", confine_itself(kind, rest ? rest : (char[]){""}));
}

void sandbox_change_user(char *arguments)
{
	uid_t uid = (uid_t)atoi(arguments);

	printf("%d\n", setresuid(uid, uid, uid));
}
