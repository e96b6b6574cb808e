/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the sentences about the time that a flight recorder's snapshot covers. */
#include "client/answer/summary.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/unit/unit.h"
#include "trace/json.h"
#include "trace/model/space.h"
#include "trace/read/outline.h"
#include "trace/xspace/xspace.h"

static struct space *space;
static uint8_t *bytes;
static struct outline outline;

static void drop_outline(void)
{
	outline_deinit(&outline);
	free(bytes);
	bytes = NULL;
}

/* Reads |space| as it is now. The facts are valid until the next call. */
static void read_facts(struct recorder_facts *f)
{
	struct chunks out = CHUNKS_INIT;
	size_t n = 0;

	drop_outline();
	ck_assert_int_eq(xspace_encode(space, &out), 0);
	bytes = malloc(out.total_bytes);
	for (size_t i = 0; i < out.n_chunks; n += out.chunks[i++].used_bytes)
		memcpy(bytes + n, out.chunks[i].data, out.chunks[i].used_bytes);
	chunks_deinit(&out);
	ck_assert_int_eq(outline_read(&outline, bytes, n, NULL, NULL, NULL), 0);
	recorder_facts_read(f, outline.archive);
}

static void add_process(int64_t id, uint64_t n_overwritten, int64_t shortest_ns)
{
	struct plane *plane = space_add_plane(space, id, PLANE_HOST);

	plane_set_string(plane, "ptap_recorder_windows", "main (1): the last 2.000 ms\n");
	plane_set_uint(plane, "ptap_overwritten", n_overwritten);
	if (shortest_ns)
		plane_set_int(plane, "ptap_shortest_window_ns", shortest_ns);
}

static void expect_text(int64_t last_ms, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	struct recorder_facts f;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	read_facts(&f);
	ck_assert(f.is_snapshot);
	recorder_facts_write_text(&f, last_ms, out);
	fclose(out);
	ck_assert_str_eq(text, expected);
}

START_TEST(other_traces_have_no_facts)
{
	struct recorder_facts f;

	space_add_plane(space, 1, PLANE_HOST);
	read_facts(&f);
	ck_assert(!f.is_snapshot);
	recorder_facts_read(&f, NULL);
	ck_assert(!f.is_snapshot);
}
END_TEST

START_TEST(says_that_nothing_was_overwritten)
{
	add_process(1, 0, 0);
	expect_text(0, "  nothing was overwritten before the snapshot\n");
}
END_TEST

/* The shortest time of all processes counts. A process that overwrote nothing does not count. */
START_TEST(says_how_far_back_every_thread_reaches)
{
	add_process(1, 1000, 3000000);
	add_process(2, 234, 1500000);
	add_process(3, 0, 0);
	expect_text(0, "  the snapshot has at least the last 1.5 ms of each thread; 1,234 older "
		       "annotations were overwritten\n");
}
END_TEST

/* Nothing was overwritten, but memory did not suffice for all. */
START_TEST(says_how_far_back_the_memory_reached)
{
	add_process(1, 0, 3000000);
	expect_text(0, "  the snapshot has at least the last 3.0 ms of each thread\n");
	expect_text(10, "  the snapshot has at least the last 3.0 ms of each thread\n");
}
END_TEST

/* The ring overwrote only records older than the request. */
START_TEST(says_that_the_requested_time_is_complete)
{
	static const char text[] =
		"  the snapshot has the last 500 ms of each thread; 1,000 annotations were "
		"overwritten, which were older or of ended threads\n";

	add_process(1, 1000, 0);
	expect_text(500, text);
	/* One span of this process began long before. */
	add_process(2, 0, 500000000);
	expect_text(500, text);
	add_process(3, 0, 499000000);
	expect_text(500,
		"  the snapshot has at least the last 499.0 ms of each thread; 1,000 older "
		"annotations were overwritten\n");
}
END_TEST

START_TEST(names_no_length_when_only_ended_threads_lost_some)
{
	add_process(1, 1000, 0);
	expect_text(0, "  1,000 annotations of threads that ended were overwritten\n");
}
END_TEST

START_TEST(scripts_get_numbers)
{
	_cleanup_free_ char *text = NULL;
	struct recorder_facts f;
	struct json j;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	add_process(1, 1234, 1500000);
	read_facts(&f);
	json_begin(&j, out);
	recorder_facts_write_json(&f, &j);
	json_end(&j);
	fclose(out);
	ck_assert_str_eq(text, "{\"overwritten\":1234,\"shortest_window_ns\":1500000}\n");
}
END_TEST

static void set_up(void)
{
	ck_assert_int_eq(space_new(&space), 0);
}

static void tear_down(void)
{
	space = space_free(space);
	drop_outline();
}

static const struct unit_test tests[] = {
	UNIT_TEST(other_traces_have_no_facts),
	UNIT_TEST(says_that_nothing_was_overwritten),
	UNIT_TEST(says_how_far_back_every_thread_reaches),
	UNIT_TEST(says_how_far_back_the_memory_reached),
	UNIT_TEST(says_that_the_requested_time_is_complete),
	UNIT_TEST(names_no_length_when_only_ended_threads_lost_some),
	UNIT_TEST(scripts_get_numbers),
	{NULL},
};

UNIT_MAIN("recorder_facts", .set_up = set_up, .tear_down = tear_down, .tests = tests)
