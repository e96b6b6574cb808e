/* SPDX-License-Identifier: Apache-2.0 */
/* How a process ended: what the kernel says of it, and the words. */
#include "daemon/ending.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(reads_the_last_field)
{
	ck_assert_int_eq(ending_parse("7 (a name) Z 1 2 3 0 0 139\n"), 139);
	ck_assert_int_eq(ending_parse("7 (a name) R 1 2 3 0 0 0\n"), -ENODATA);
	ck_assert_int_eq(ending_parse("7 (a name) R 1 2 3 0 0 -5\n"), -ENODATA);
	ck_assert_int_eq(ending_parse(""), -ENODATA);
	ck_assert_int_eq(ending_parse("text"), -ENODATA);
}
END_TEST

START_TEST(says_it_in_words)
{
	char text[64];

	ending_describe(9, text, sizeof text);
	ck_assert_str_eq(text, ", killed by SIGKILL");
	ending_describe(139, text, sizeof text);
	ck_assert_str_eq(text, ", killed by SIGSEGV");
	ending_describe(40, text, sizeof text);
	ck_assert_str_eq(text, ", killed by signal 40");
	ending_describe(3 << 8, text, sizeof text);
	ck_assert_str_eq(text, ", with exit status 3");
	ending_describe(-ENODATA, text, sizeof text);
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

	ck_assert_int_eq(ending_find(pid, -1), SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(ending_find(pid, -1), -ENODATA);
}
END_TEST

/* Since Linux 6.15. */
START_TEST(knows_of_one_whose_parent_has_asked)
{
	pid_t pid = fork_and_die();
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status;

	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	status = ending_find(pid, pidfd);
	ck_assert(status == SIGKILL || status == -ENODATA);
}
END_TEST

START_TEST(knows_nothing_of_one_that_lives)
{
	ck_assert_int_eq(ending_find(getpid(), -1), -ENODATA);
	ck_assert_int_eq(
		ending_find(getpid(), (int)syscall(SYS_pidfd_open, getpid(), 0)), -ENODATA);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ending");
	TCase *tcase = tcase_create("ending");
	SRunner *runner;

	tcase_add_test(tcase, reads_the_last_field);
	tcase_add_test(tcase, says_it_in_words);
	tcase_add_test(tcase, knows_of_a_zombie);
	tcase_add_test(tcase, knows_of_one_whose_parent_has_asked);
	tcase_add_test(tcase, knows_nothing_of_one_that_lives);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
