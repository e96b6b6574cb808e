/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that an outline has the same facts as the whole trace, whatever
 * its size, and keeps no event.
 */
#include "trace/read/outline.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/xspace/xspace.h"

static uint8_t *bytes;
static size_t n_bytes;
static struct outline outline;
static size_t n_passes;

static void set_up(void)
{
	space_fixture_open();
	bytes = NULL;
	n_passes = 0;
	outline = (struct outline){.archive = NULL};
}

static void tear_down(void)
{
	outline_deinit(&outline);
	free(bytes);
	space_fixture_close();
}

static void encode(void)
{
	struct chunks out = CHUNKS_INIT;

	ck_assert_int_eq(xspace_encode(space, &out), 0);
	bytes = malloc(out.total_bytes);
	n_bytes = 0;
	for (size_t i = 0; i < out.n_chunks; n_bytes += out.chunks[i++].used_bytes)
		memcpy(bytes + n_bytes, out.chunks[i].data, out.chunks[i].used_bytes);
	chunks_deinit(&out);
}

static int count_pass(const uint8_t *p, void *context)
{
	(void)context;
	ck_assert(p > bytes && p <= bytes + n_bytes);
	n_passes++;
	return 0;
}

static int stop_after_ten(const uint8_t *p, void *context)
{
	(void)p, (void)context;
	return ++n_passes < 10 ? 0 : -EINTR;
}

static void add_many(void)
{
	for (int i = 0; i < 5000; i++)
		add("many", i, 1, int_stats("unfinished", i % 2, "_p"));
}

static void add_others(void)
{
	line = plane_add_line(plane, 43, "asyncs", 0);
	for (int i = 0; i < 3000; i++)
		add("async", i, 1, int_stats("x", 1, "_a"));
	line = plane_add_line(plane, 44, "nearly", 0);
	for (int i = 0; i < 3000; i++)
		add("near", i, 1, i == 2999 ? 0 : int_stats("x", 1, "_a"));
	line = plane_add_line(plane, 45, LINE_COUNTERS, 0);
	for (int i = 0; i < 3000; i++)
		add(i % 2 ? "rss" : "load", i, 0, double_stat(1));
	line = plane_add_line(plane, 46, "steps", 0);
	add("train", 5, 5, int_stats("step_num", 1, "_r"));
	plane_set_uint(plane, "dropped_traces", 17);
}

static void read_outline(void)
{
	encode();
	ck_assert_int_eq(outline_read(&outline, bytes, n_bytes, count_pass, NULL, NULL), 0);
}

START_TEST(totals_tell_spans_from_counters)
{
	const struct report_totals *t = &outline.totals;

	add("a", 0, 5, int_stats("unfinished", 1, "x"));
	add("train", 5, 5, int_stats("step_num", 1, "_r"));
	line = plane_add_line(plane, 98, "idle", 0);
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rss", 0, 0, double_stat(1));
	add("load", 1, 0, double_stat(1));
	add("rss", 2, 0, double_stat(1));
	plane_set_uint(plane, "dropped_traces", 17);
	read_outline();
	ck_assert_uint_eq(t->n_spans, 2);
	ck_assert_uint_eq(t->n_threads, 1);
	ck_assert_uint_eq(t->n_counters, 2);
	ck_assert_uint_eq(t->n_counter_samples, 3);
	ck_assert_uint_eq(t->n_steps, 1);
	ck_assert_uint_eq(t->n_unfinished, 1);
	ck_assert_uint_eq(t->n_dropped, 17);
}
END_TEST

START_TEST(totals_tell_async_spans_from_threads)
{
	const struct report_totals *t = &outline.totals;

	add_asyncs();
	read_outline();
	ck_assert_uint_eq(t->n_spans, 1);
	ck_assert_uint_eq(t->n_instants, 2);
	ck_assert_uint_eq(t->n_threads, 1);
	ck_assert_uint_eq(t->n_asyncs, 3);
	ck_assert_uint_eq(t->n_flow_marks, 3);
	ck_assert_uint_eq(t->n_unfinished, 1);
}
END_TEST

/* Each plane has its own counters, even if their names are the same. */
START_TEST(counters_of_two_planes_are_two)
{
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("other", 0, 0, double_stat(1));
	add("rss", 0, 0, double_stat(1));
	plane = space_add_plane(space, 2, "/device:GPU:0");
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rss", 0, 0, double_stat(1));
	line = plane_add_line(plane, 1, "stream", 0);
	add("kernel", 0, 10, 0);
	read_outline();
	ck_assert_uint_eq(outline.totals.n_counters, 3);
	ck_assert_uint_eq(outline.totals.n_device_spans, 1);
}
END_TEST

START_TEST(totals_equal_those_of_the_whole_trace)
{
	struct report_totals expected;

	add_many();
	add_others();
	space_count_totals(space, &expected);
	ck_assert_uint_eq(expected.n_asyncs, 3000);
	ck_assert_uint_eq(expected.n_spans, 8001);
	ck_assert_uint_eq(expected.n_threads, 3);
	ck_assert_uint_eq(expected.n_counters, 2);
	read_outline();
	ck_assert_mem_eq(&outline.totals, &expected, sizeof expected);
	ck_assert_uint_eq(outline.n_events, 14001);
	/* Each event is passed twice. */
	ck_assert_uint_ge(n_passes, 2 * 14001);
}
END_TEST

START_TEST(keeps_facts_and_no_events)
{
	const struct archive *a;

	plane_set_string(plane, "ptap_process_name", "train");
	plane_set_int(plane, "process_id", 4711);
	space_add_warning(space, "careful");
	add_many();
	read_outline();
	a = outline.archive;
	ck_assert_uint_eq(a->n_planes, 1);
	ck_assert_uint_eq(a->planes[0].n_lines, 0);
	ck_assert_uint_eq(a->planes[0].n_event_names, 0);
	ck_assert_uint_eq(a->names.n_texts, 0);
	ck_assert_int_eq(archive_plane_find_int(&a->planes[0], "process_id"), 4711);
	ck_assert_str_eq(outline.process, "train");
	ck_assert_int_eq(outline.pid, 4711);
	ck_assert_str_eq(names_get(&a->warnings, 0), "careful");
}
END_TEST

/*
 * A stock server's recording is as long as requested: its stop time is when it had collected
 * everything.
 */
START_TEST(tells_how_long_the_recording_was)
{
	const uint8_t options[] = {9 << 3, 3}; /* ProfileOptions.duration_ms */
	struct plane *environment = space_add_plane(space, 9, PLANE_ENVIRONMENT);

	plane_set_uint(environment, "profile_start_time", 5000000);
	plane_set_uint(environment, "profile_stop_time", 5000000 + 9 * NS_PER_MS);
	plane_set_bytes(environment, "profile_options", options, sizeof options);
	if (_i)
		plane_set_string(plane, "ptap_process_name", "train");
	add("a", 0, NS_PER_MS, 0);
	read_outline();
	ck_assert_int_eq(report_find_length(&outline.length), _i ? 9 * NS_PER_MS : 3 * NS_PER_MS);
}
END_TEST

/* The difference of such times does not fit into 64 bits. */
START_TEST(times_that_no_clock_has_are_unknown)
{
	struct plane *environment = space_add_plane(space, 9, PLANE_ENVIRONMENT);

	plane_set_int(environment, "profile_start_time", _i ? INT64_MIN : 1);
	plane_set_int(environment, "profile_stop_time", _i ? INT64_MAX : INT64_MIN);
	add("a", 0, 5, 0);
	read_outline();
	ck_assert_int_eq(outline.length.start_unix_ns, _i ? 0 : 1);
	ck_assert_int_eq(outline.length.stop_unix_ns, 0);
	ck_assert_int_eq(report_find_length(&outline.length), -1);
}
END_TEST

/* The stat of an event's metadata ends in its metadata_id. */
START_TEST(a_broken_stat_of_a_name_is_refused)
{
	static const uint8_t text[] = "\x0a\x0a\x22\x08\x08\x01\x12\x04\x2a\x02\x08\x80";
	struct diag d = DIAG_INIT;

	bytes = malloc(sizeof text - 1);
	n_bytes = sizeof text - 1;
	memcpy(bytes, text, n_bytes);
	ck_assert_int_eq(outline_read(&outline, bytes, n_bytes, count_pass, NULL, &d), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(d.text, "in a stat"));
}
END_TEST

/* {metadata_id 1, offset_ps, stats {metadata_id 1, str_value}} of one line of one plane. */
START_TEST(texts_of_events_are_not_kept)
{
	static const uint8_t text[] =
		"\x0a\x0f\x1a\x0d\x22\x0b\x08\x01\x10\x02\x22\x05\x08\x01\x2a\x01z";

	bytes = malloc(sizeof text - 1);
	n_bytes = sizeof text - 1;
	memcpy(bytes, text, n_bytes);
	ck_assert_int_eq(outline_read(&outline, bytes, n_bytes, count_pass, NULL, NULL), 0);
	ck_assert_uint_eq(outline.n_events, 1);
	ck_assert_uint_eq(names_find(&outline.archive->planes[0].stat_names, "z"), NAMES_NONE);
}
END_TEST

/* {metadata_id 1, num_occurrences 3} of one line of one plane. */
START_TEST(events_without_a_time_are_left_out_with_a_warning)
{
	static const uint8_t text[] = "\x0a\x08\x1a\x06\x22\x04\x08\x01\x28\x03";

	bytes = malloc(sizeof text - 1);
	n_bytes = sizeof text - 1;
	memcpy(bytes, text, n_bytes);
	ck_assert_int_eq(outline_read(&outline, bytes, n_bytes, count_pass, NULL, NULL), 0);
	ck_assert_uint_eq(outline.n_events, 0);
	ck_assert_str_eq(names_get(&outline.archive->warnings, 0),
		"1 aggregated events have no time and are left out");
}
END_TEST

/* The decoder gives the same messages, too, and they name no file. */
START_TEST(refuses_a_truncated_trace)
{
	struct diag of_decoder = DIAG_INIT;
	struct diag d = DIAG_INIT;
	struct space *decoded = NULL;

	add_many();
	encode();
	for (size_t i = 1; i < 40; i++) {
		int r = outline_read(&outline, bytes, n_bytes - i, count_pass, NULL, &d);

		outline_deinit(&outline);
		ck_assert_int_eq(r, xspace_decode(bytes, n_bytes - i, &decoded, &of_decoder));
		ck_assert_str_eq(d.text, of_decoder.text);
		decoded = space_free(decoded);
	}
	ck_assert_ptr_nonnull(strstr(d.text, "is it whole?"));
}
END_TEST

START_TEST(ends_when_its_callback_stops)
{
	add_many();
	encode();
	ck_assert_int_eq(
		outline_read(&outline, bytes, n_bytes, stop_after_ten, NULL, NULL), -EINTR);
	ck_assert_uint_eq(n_passes, 10);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(totals_tell_spans_from_counters),
	UNIT_TEST(totals_tell_async_spans_from_threads),
	UNIT_TEST(counters_of_two_planes_are_two),
	UNIT_TEST(totals_equal_those_of_the_whole_trace),
	UNIT_TEST(keeps_facts_and_no_events),
	UNIT_LOOP(tells_how_long_the_recording_was, 2),
	UNIT_LOOP(times_that_no_clock_has_are_unknown, 2),
	UNIT_TEST(a_broken_stat_of_a_name_is_refused),
	UNIT_TEST(texts_of_events_are_not_kept),
	UNIT_TEST(events_without_a_time_are_left_out_with_a_warning),
	UNIT_TEST(refuses_a_truncated_trace),
	UNIT_TEST(ends_when_its_callback_stops),
	{NULL},
};

UNIT_MAIN("outline", .set_up = set_up, .tear_down = tear_down, .tests = tests)
