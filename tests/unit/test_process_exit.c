/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of process_exit.h: waiting for the end of a process without allocating memory. */
#include "daemon/kernel/process_exit.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"
#include "tests/unit/unit.h"

#define PATIENCE_MS 10000
/*
 * Fields 4 to 8 and 10 to 30 of /proc/PID/stat. Field 9 has the flags, field 31 the pending
 * signals.
 */
#define BEFORE "1 2 3 0 -1"
#define BETWEEN "1 2 3 4 5 6 7 8 20 0 1 0 99 4096 1 18446744073709551615 1 1 0 0 0"

static pid_t pid;
static int stat_fd;
static int pidfd;

static void set_up(void)
{
	pid = fork();
	if (pid == 0) {
		alarm(PATIENCE_MS / 1000);
		for (;;)
			pause();
	}
	stat_fd = process_exit_open(pid);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
}

static void tear_down(void)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(stat_fd);
	close(pidfd);
}

START_TEST(a_live_process_is_not_waited_for_long)
{
	int64_t begin_ns = monotonic_ns();
	int status = -1;

	ck_assert_int_eq(process_exit_await(stat_fd, pidfd, &status), PROCESS_EXIT_NONE);
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(process_exit_poll(stat_fd, pidfd, 0, &status), PROCESS_EXIT_NONE);
	/* process_exit_await() waits 10 s only for a process that is ending. */
	ck_assert_int_lt(monotonic_ns() - begin_ns, 9 * NS_PER_S);
}
END_TEST

START_TEST(an_end_is_waited_for)
{
	int status = -1;

	kill(pid, SIGKILL);
	ck_assert_int_eq(
		process_exit_poll(stat_fd, pidfd, PATIENCE_MS, &status), PROCESS_EXIT_OVER);
	ck_assert_int_eq(process_exit_poll(stat_fd, pidfd, 0, &status), PROCESS_EXIT_OVER);
	ck_assert_int_eq(status, SIGKILL);
	/* The kernel reports the status until the parent has waited for the process. */
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	status = -1;
	ck_assert_int_eq(process_exit_await(stat_fd, pidfd, &status), PROCESS_EXIT_OVER);
	ck_assert_int_eq(status, -1);
}
END_TEST

START_TEST(one_descriptor_alone_gives_no_status)
{
	int status = -1;

	kill(pid, SIGKILL);
	ck_assert_int_eq(process_exit_poll(-1, pidfd, PATIENCE_MS, &status), PROCESS_EXIT_OVER);
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(process_exit_poll(stat_fd, -1, PATIENCE_MS, &status), PROCESS_EXIT_NONE);
	ck_assert_int_eq(process_exit_await(stat_fd, -1, &status), PROCESS_EXIT_NONE);
}
END_TEST

START_TEST(exiting_or_killed_process_is_ending)
{
	ck_assert(!proc_stat_is_ending("7 (a) S " BEFORE " 4194304 " BETWEEN " 0 0 0"));
	ck_assert(proc_stat_is_ending("7 (a) R " BEFORE " 4194308 " BETWEEN " 0 0 0"));
	ck_assert(proc_stat_is_ending("7 (a) R " BEFORE " 4194304 " BETWEEN " 256 0 0"));
	/* SIGTERM may be caught. */
	ck_assert(!proc_stat_is_ending("7 (a) R " BEFORE " 4194304 " BETWEEN " 16384 0 0"));
	ck_assert(!proc_stat_is_ending("7 (a) R " BEFORE " 4194308"));
	ck_assert(!proc_stat_is_ending("7"));
	ck_assert(!proc_stat_is_ending(""));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_live_process_is_not_waited_for_long),
	UNIT_TEST(an_end_is_waited_for),
	UNIT_TEST(one_descriptor_alone_gives_no_status),
	UNIT_TEST(exiting_or_killed_process_is_ending),
	{NULL},
};

UNIT_MAIN("departure", .set_up = set_up, .tear_down = tear_down, .tests = tests)
