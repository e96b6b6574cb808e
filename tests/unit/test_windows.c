/* SPDX-License-Identifier: Apache-2.0 */
/* How far back a snapshot of a flight recorder reaches, in words for people. */
#include "daemon/windows.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/log_fixture.h"

/* Of a thread that overwrote |n_overwritten|, and kept what ended in the last half millisecond. */
static struct thread_log *add_thread(int32_t tid, const char *name, uint64_t n_overwritten)
{
	struct thread_log *log = log_add(tid, name);

	log->window_ticks = LOG_STOP_TICKS - 2000000;
	log->n_overwritten = n_overwritten;
	return log;
}

static const char *make_text(void)
{
	logs.drain.is_picture = 1;
	log_assemble();
	return plane_find_text(logs.plane, "ptap_recorder_windows");
}

START_TEST(a_line_for_each_thread)
{
	add_thread(1, "main", 0);
	add_thread(2, "worker", 17)->window_ticks = 0;
	ck_assert_str_eq(make_text(), "main (1): the last 0.500 ms, 0 overwritten\n"
				      "worker (2): nothing, 17 overwritten\n");
}
END_TEST

START_TEST(a_name_cannot_begin_a_line)
{
	add_thread(1, "a\nmain (2): the last 9 ms", 0);
	ck_assert_str_eq(
		make_text(), "a?main (2): the last 9 ms (1): the last 0.500 ms, 0 overwritten\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("windows");
	SRunner *runner = srunner_create(suite);
	TCase *tests = tcase_create("text");

	tcase_add_checked_fixture(tests, log_open, log_close);
	tcase_add_test(tests, a_line_for_each_thread);
	tcase_add_test(tests, a_name_cannot_begin_a_line);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
