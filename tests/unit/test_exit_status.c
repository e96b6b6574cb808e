/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how a process ended: what the kernel reports, and the text about it. */
#include "daemon/kernel/process_exit.h"

#include <check.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

START_TEST(reads_the_last_field)
{
	ck_assert_int_eq(exit_status_parse("7 (a name) Z 1 2 3 0 0 139\n"), 139);
	ck_assert_int_eq(exit_status_parse("7 (a name) R 1 2 3 0 0 0\n"), -ENODATA);
	ck_assert_int_eq(exit_status_parse("7 (a name) R 1 2 3 0 0 -5\n"), -ENODATA);
	ck_assert_int_eq(exit_status_parse(""), -ENODATA);
	ck_assert_int_eq(exit_status_parse("text"), -ENODATA);
}
END_TEST

START_TEST(describes_a_status_in_words)
{
	char text[64];

	exit_status_describe(9, text, sizeof text);
	ck_assert_str_eq(text, ", killed by SIGKILL");
	exit_status_describe(139, text, sizeof text);
	ck_assert_str_eq(text, ", killed by SIGSEGV");
	exit_status_describe(40, text, sizeof text);
	ck_assert_str_eq(text, ", killed by signal 40");
	exit_status_describe(3 << 8, text, sizeof text);
	ck_assert_str_eq(text, ", with exit status 3");
	exit_status_describe(-ENODATA, text, sizeof text);
	ck_assert_str_eq(text, "");
}
END_TEST

static pid_t fork_and_die(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0) {
		raise(SIGKILL);
		_exit(0);
	}
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

START_TEST(knows_of_a_zombie)
{
	pid_t pid = fork_and_die();
	int fd = process_exit_open(pid);

	ck_assert_int_eq(exit_status_find(fd, -1), SIGKILL);
	ck_assert_int_eq(exit_status_find(-1, -1), -ENODATA);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(exit_status_find(fd, -1), -ENODATA);
}
END_TEST

/* Linux 6.15 and later can do this. */
START_TEST(knows_the_status_after_the_parent_has_asked)
{
	pid_t pid = fork_and_die();
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd = process_exit_open(pid);
	int status;

	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	status = exit_status_find(fd, pidfd);
	ck_assert(status == SIGKILL || status == -ENODATA);
}
END_TEST

START_TEST(knows_no_status_of_a_live_process)
{
	int fd = process_exit_open(getpid());

	ck_assert_int_eq(exit_status_find(fd, -1), -ENODATA);
	ck_assert_int_eq(exit_status_find(fd, (int)syscall(SYS_pidfd_open, getpid(), 0)), -ENODATA);
}
END_TEST

/* Exit statuses of 0. */

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Makes a process that waits for its death, or for |status| in the pipe. */
static pid_t fork_and_wait(int pipe_fds[2])
{
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0) {
		char status = 0;

		close(pipe_fds[1]);
		_exit(read(pipe_fds[0], &status, 1) == 1 ? status : 99);
	}
	close(pipe_fds[0]);
	return pid;
}

static void await_zombie(pid_t pid, int fd)
{
	siginfo_t info;

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	close(fd);
}

static void let_go(pid_t pid, int fd, char status)
{
	ck_assert_int_eq(write(fd, &status, 1), 1);
	await_zombie(pid, fd);
}

static void end_with_3(pid_t pid, int fd)
{
	let_go(pid, fd, 3);
}

static void end_by_signal(pid_t pid, int fd)
{
	kill(pid, SIGKILL);
	await_zombie(pid, fd);
}

START_TEST(a_status_of_0_is_known_of_a_zombie)
{
	int fds[2];
	pid_t pid = fork_and_wait(fds);
	int pidfd = open_pidfd(pid);
	uint64_t start = process_find_start(pid);

	ck_assert_uint_ne(start, 0);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start), 0);
	let_go(pid, fds[1], 0);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start), 1);
	/* An earlier process of that pid, an unknown start, and no pidfd. */
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start - 1), 0);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, 0), 0);
	ck_assert_int_eq(exit_status_is_zero(pid, -1, start), 0);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(a_status_of_3_or_a_signal_is_not_0)
{
	static void (*const ends[])(pid_t, int) = {end_with_3, end_by_signal};
	int fds[2];
	pid_t pid = fork_and_wait(fds);
	int pidfd = open_pidfd(pid);
	uint64_t start = process_find_start(pid);

	ends[_i](pid, fds[1]);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start), 0);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start), 0);
}
END_TEST

/*
 * A caller without permission gets 0 from the kernel. Here that is a child
 * that asks about its brother.
 */
START_TEST(a_0_of_another_user_is_not_trusted)
{
	int fds[2];
	pid_t pid = fork_and_wait(fds);
	int pidfd = open_pidfd(pid);
	uint64_t start = process_find_start(pid);
	pid_t asker;
	int status;

	let_go(pid, fds[1], 3);
	asker = fork();
	if (asker == 0) {
		if (setresuid(1, 1, 1))
			_exit(77);
		_exit(exit_status_find(process_exit_open(pid), -1) == -ENODATA &&
					!exit_status_is_zero(pid, pidfd, start)
				? 0
				: 1);
	}
	waitpid(asker, &status, 0);
	waitpid(pid, NULL, 0);
	/* Only root can become another user. */
	ck_assert(status == 0 || (geteuid() && status == 77 << 8));
}
END_TEST

/* The other process has more rights, though it has the same user. */
START_TEST(a_0_of_one_with_capabilities_is_not_trusted)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
	int fds[2];
	pid_t pid = fork_and_wait(fds);
	int pidfd = open_pidfd(pid);
	uint64_t start = process_find_start(pid);

	let_go(pid, fds[1], 3);
	memset(none, 0, sizeof none);
	ck_assert_int_eq((int)syscall(SYS_capset, &head, none), 0);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start), 0);
	waitpid(pid, NULL, 0);
}
END_TEST

/* Linux 6.15 and later can do this. */
START_TEST(a_status_of_0_is_known_when_its_parent_has_asked)
{
	int fds[2];
	pid_t pid = fork_and_wait(fds);
	int pidfd = open_pidfd(pid);
	uint64_t start = process_find_start(pid);
	struct utsname system;
	int major;
	int minor;

	let_go(pid, fds[1], 0);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(uname(&system), 0);
	ck_assert_int_eq(sscanf(system.release, "%d.%d", &major, &minor), 2);
	ck_assert_int_eq(exit_status_is_zero(pid, pidfd, start), major * 1000 + minor >= 6015);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(reads_the_last_field),
	UNIT_TEST(describes_a_status_in_words),
	UNIT_TEST(knows_of_a_zombie),
	UNIT_TEST(knows_the_status_after_the_parent_has_asked),
	UNIT_TEST(knows_no_status_of_a_live_process),
	UNIT_TEST(a_status_of_0_is_known_of_a_zombie),
	UNIT_LOOP(a_status_of_3_or_a_signal_is_not_0, 2),
	UNIT_TEST(a_0_of_another_user_is_not_trusted),
	UNIT_TEST(a_0_of_one_with_capabilities_is_not_trusted),
	UNIT_TEST(a_status_of_0_is_known_when_its_parent_has_asked),
	{NULL},
};

UNIT_MAIN("ending", .tests = tests)
