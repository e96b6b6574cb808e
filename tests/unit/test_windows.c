/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the text about how far back a snapshot of a flight recorder reaches. */
#include "daemon/pipeline/assembly/windows.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

/*
 * Adds a thread that overwrote |n_overwritten| records, and kept those that ended in the last half
 * millisecond.
 */
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

START_TEST(each_thread_has_a_line)
{
	add_thread(1, "main", 0);
	add_thread(2, "worker", 17)->window_ticks = 0;
	add_thread(3, "loader", 4)->complete_ticks = LOG_STOP_TICKS - 3000000;
	add_thread(4, "reader", 5)->is_limited = 1;
	ck_assert_str_eq(make_text(), "main (1): everything\n"
				      "worker (2): nothing in full, 17 overwritten\n"
				      "loader (3): the last 0.750 ms, 4 overwritten\n"
				      "reader (4): everything that was asked for\n");
}
END_TEST

START_TEST(a_name_cannot_begin_a_line)
{
	add_thread(1, "a\nmain (2): the last 9 ms", 0);
	ck_assert_str_eq(make_text(), "a?main (2): the last 9 ms (1): everything\n");
}
END_TEST

/* Ended threads follow, the latest one first. Threads without records are only counted. */
START_TEST(live_threads_come_first)
{
	add_thread(1, "first", 3);
	add_thread(2, "last", 0);
	add_thread(3, "main", 0);
	log_add(4, "idle");
	logs.drain.n_ended = 2;
	logs.drain.n_overwritten = 150003;
	ck_assert_str_eq(make_text(),
		"main (3): everything\n"
		"last (2): everything\n"
		"first (1): the last 0.500 ms, 3 overwritten\n"
		"1 thread: everything, no span ended\n"
		"threads that ended, and of which nothing is kept: 150003 overwritten\n");
}
END_TEST

START_TEST(threads_beyond_the_limit_are_counted)
{
	const char *text;
	size_t n_lines = 0;

	for (int i = 0; i < 300; i++)
		add_thread(i, i < 299 ? "ended" : "main", 0);
	logs.drain.n_ended = 299;
	text = make_text();
	ck_assert_ptr_eq(strstr(text, "main (299): "), text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n_lines++;
	ck_assert_uint_eq(n_lines, 256 + 1);
	ck_assert_ptr_nonnull(strstr(text, "ended (44): "));
	ck_assert_ptr_null(strstr(text, "ended (43): "));
	ck_assert_ptr_nonnull(strstr(text, "\n44 more threads, too many to name\n"));
}
END_TEST

/* A thread without losses is not short, even if it overwrote records from before the request. */
START_TEST(the_shortest_window_with_losses_is_reported)
{
	add_thread(1, "long", 3);
	add_thread(2, "short", 7)->window_ticks += 1000000;
	add_thread(3, "all", 0)->window_ticks += 1800000;
	add_thread(4, "limited", 9)->window_ticks += 1800000;
	logs.drain.logs[3]->is_limited = 1;
	logs.drain.asked_ticks = LOG_STOP_TICKS - 4000000;
	make_text();
	ck_assert_uint_eq(log_plane_stat("ptap_shortest_window_ns"), 250000);
	ck_assert(log_has_warning(
		"less than was asked for in 2 threads: short (2) has only the last 0.2 ms; "
		"raise ring_bytes"));
}
END_TEST

START_TEST(lack_of_memory_shortens_the_window)
{
	struct thread_log *log = add_thread(1, "main", 0);

	log->lost_memory = 5;
	logs.drain.asked_ticks = LOG_STOP_TICKS - 4000000;
	ck_assert_str_eq(
		make_text(), "main (1): the last 0.500 ms, 0 overwritten, 5 without memory\n");
	ck_assert_uint_eq(log_plane_stat("ptap_shortest_window_ns"), 500000);
	ck_assert(log_has_warning("raise max_capture_bytes"));
}
END_TEST

/* Returns the time since the trace's start; 0: nothing is missing. */
static uint64_t find_complete_ns(void)
{
	uint64_t since_ns = log_plane_stat("ptap_complete_since_ns");

	return since_ns ? since_ns - LOG_START_UNIX_NS : 0;
}

START_TEST(a_snapshot_is_complete_since_all_threads_are)
{
	add_thread(1, "main", 3)->complete_ticks = LOG_START_TICKS + 4000;
	add_thread(2, "worker", 7)->complete_ticks = LOG_START_TICKS + 2000000;
	add_thread(3, "whole", 0);
	make_text();
	ck_assert_uint_eq(find_complete_ns(), 500000);
}
END_TEST

START_TEST(a_snapshot_is_complete_since_the_last_dropped_thread)
{
	add_thread(1, "main", 3)->complete_ticks = LOG_START_TICKS + 4000;
	logs.drain.gone_ticks = LOG_START_TICKS + 3000000;
	make_text();
	ck_assert_uint_eq(find_complete_ns(), 750000);
}
END_TEST

START_TEST(a_snapshot_of_nothing_is_complete_at_its_end)
{
	add_thread(1, "main", 3)->complete_ticks = UINT64_MAX;
	make_text();
	ck_assert_uint_eq(find_complete_ns(), 1000000);
}
END_TEST

START_TEST(window_without_overwriting_is_complete)
{
	add_thread(1, "main", 0);
	make_text();
	ck_assert_uint_eq(find_complete_ns(), 0);
}
END_TEST

START_TEST(a_session_is_complete_since_its_oldest_records_went)
{
	log_put_span(log_add(1, "main"), "span", 40, 80, 0);
	logs.window = 1000000;
	log_assemble();
	ck_assert_uint_eq(find_complete_ns(), 0);
	log_close();
	log_open();
	log_put_span(log_add(1, "main"), "span", 2000000, 2000080, 0);
	logs.drain.lost_oldest = 5;
	logs.window = 1000000;
	log_assemble();
	ck_assert_uint_eq(find_complete_ns(), 250000);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_thread_has_a_line),
	UNIT_TEST(a_name_cannot_begin_a_line),
	UNIT_TEST(live_threads_come_first),
	UNIT_TEST(threads_beyond_the_limit_are_counted),
	UNIT_TEST(the_shortest_window_with_losses_is_reported),
	UNIT_TEST(lack_of_memory_shortens_the_window),
	UNIT_TEST(a_snapshot_is_complete_since_all_threads_are),
	UNIT_TEST(a_snapshot_is_complete_since_the_last_dropped_thread),
	UNIT_TEST(a_snapshot_of_nothing_is_complete_at_its_end),
	UNIT_TEST(window_without_overwriting_is_complete),
	UNIT_TEST(a_session_is_complete_since_its_oldest_records_went),
	{NULL},
};

UNIT_MAIN("windows", .set_up = log_open, .tear_down = log_close, .tests = tests)
