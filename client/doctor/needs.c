/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of kernel functions that a program and its server need to work together. */
#include <errno.h>

#include "base/diag.h"
#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

void check_proc(const struct system *sys, const struct check *self, struct finding *f)
{
	char name[64];

	(void)self;
	if (system_read_field(sys, "/proc/self/status", "Name", name, sizeof name) == 0) {
		finding_yes(f, "/proc is mounted");
		return;
	}
	finding_no(f, "/proc is not mounted");
	system_set_command(sys, f, "mount -t proc proc /proc");
}

/* Explains a system call that a filter forbids or that an old kernel does not have. */
static void judge_call(
	struct finding *f, int r, const char *yes, const char *name, const char *since)
{
	if (r == 0) {
		finding_yes(f, "%s", yes);
		return;
	}
	finding_no(f, "%s: %s", name, errno_words(r));
	if (r == -ENOSYS)
		finding_set_reason(f, "%s is needed", since);
	else
		finding_set_reason(f,
			"a filter of system calls (seccomp) or a limit forbids it to this process");
}

void check_memory(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_call(f, sys->attempt(ATTEMPT_MEMFD, 0), "memfd_create, with seals", "memfd_create",
		"Linux 3.17");
}

void check_pidfd(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_call(f, sys->attempt(ATTEMPT_PIDFD, 0), "pidfd_open", "pidfd_open", "Linux 5.3");
}

void check_loopback(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_LOOPBACK, 0);

	(void)self;
	if (r == 0) {
		finding_yes(f, "127.0.0.1 takes connections");
		return;
	}
	finding_no(f, "127.0.0.1: %s", errno_words(r));
	system_set_command(sys, f, "ip link set lo up");
}

/*
 * Without it the owner of a connection is not known, and clients may only connect with
 * .any_local_user.
 */
void check_sock_diag(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_SOCK_DIAG, 0);

	(void)self;
	if (r == 0) {
		finding_yes(f, "the kernel tells whose connection it is");
		return;
	}
	finding_no(f, "the kernel does not tell whose connection it is: %s", errno_words(r));
	system_set_command(sys, f, "modprobe -a inet_diag tcp_diag");
}
