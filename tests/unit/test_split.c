/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a trace in several files: together they have the same events, each in one file, by time. */
#include "trace/xspace/split.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/xspace/totals.h"
#include "trace/xspace/xspace.h"

static struct split split;
static size_t n_passes_left; /* the calls of give_up() that do not yet stop the split */
static uint8_t *bytes;
static struct space *parts[SPLIT_MAX_PARTS];

static int pass(const uint8_t *p, void *context)
{
	(void)context;
	ck_assert(p > bytes && p <= bytes + split.n_bytes);
	return 0;
}

static int give_up(const uint8_t *p, void *context)
{
	size_t *left = context;

	(void)p;
	if (!*left)
		return -EINTR;
	--*left;
	return 0;
}

static void set_up(void)
{
	space_fixture_open();
	split = (struct split){.pass = pass};
	bytes = NULL;
	memset(parts, 0, sizeof parts);
}

static void tear_down(void)
{
	for (size_t i = 0; i < SPLIT_MAX_PARTS; i++)
		space_free(parts[i]);
	free(bytes);
	space_fixture_close();
}

static void encode(uint64_t max_bytes)
{
	struct chunks out = CHUNKS_INIT;
	size_t n = 0;

	ck_assert_int_eq(xspace_encode(space, &out), 0);
	bytes = malloc(out.total_bytes);
	for (size_t i = 0; i < out.n_chunks; n += out.chunks[i++].used_bytes)
		memcpy(bytes + n, out.chunks[i].data, out.chunks[i].used_bytes);
	chunks_deinit(&out);
	split.data = bytes;
	split.n_bytes = n;
	split.max_bytes = max_bytes;
}

static void plan(void)
{
	struct diag d = DIAG_INIT;

	ck_assert_msg(split_plan(&split, &d) == 0, "%s", d.text);
}

/* Reads a part back. It may be smaller than planned, by less than the limit of the mark. */
static struct space *decode(int fd, uint64_t n_bytes)
{
	struct space *out = NULL;
	struct diag d = DIAG_INIT;
	uint8_t *data = malloc(n_bytes + 1);
	ssize_t n = pread(fd, data, n_bytes + 1, 0);

	ck_assert_int_le(n, (ssize_t)n_bytes);
	ck_assert_int_gt(n, (ssize_t)n_bytes - SPLIT_MARK_BYTES);
	ck_assert_msg(xspace_decode(data, (size_t)n, &out, &d) == 0, "%s", d.text);
	free(data);
	return out;
}

static void write_parts(void)
{
	FILE *files[SPLIT_MAX_PARTS];
	int fds[SPLIT_MAX_PARTS];

	for (size_t i = 0; i < split.n_parts; i++) {
		files[i] = tmpfile();
		fds[i] = fileno(files[i]);
	}
	ck_assert_int_eq(split_write(&split, fds), 0);
	for (size_t i = 0; i < split.n_parts; i++) {
		ck_assert_uint_le(split.part_bytes[i], split.max_bytes);
		parts[i] = decode(fds[i], split.part_bytes[i]);
		fclose(files[i]);
	}
}

static uint64_t count(const char *name)
{
	uint64_t n = 0;

	for (size_t i = 0; i < split.n_parts; i++)
		for (size_t l = 0; l < parts[i]->planes[0]->n_lines; l++) {
			const struct line *in = &parts[i]->planes[0]->lines[l];

			for (size_t e = 0; e < in->n_events; e++)
				n += strcmp(names_get(&parts[i]->planes[0]->event_names,
						    in->events[e].name),
					     name) == 0;
		}
	return n;
}

static void add_many(void)
{
	for (int i = 0; i < 20000; i++)
		add("early", i * 1000, 100, int_stats("n", i, "one"));
	line = plane_add_line(plane, 43, "other", 0);
	for (int i = 0; i < 20000; i++)
		add("late", 10000000 + i * 1000, 100, int_stats("n", i, "one"));
	space_add_warning(space, "careful");
}

START_TEST(every_event_is_in_one_part)
{
	add_many();
	encode(100000);
	plan();
	ck_assert_uint_ge(split.n_parts, split.n_bytes / 100000);
	write_parts();
	ck_assert_uint_eq(count("early"), 20000);
	ck_assert_uint_eq(count("late"), 20000);
}
END_TEST

START_TEST(parts_follow_each_other_in_time)
{
	int64_t last_ns = -1;

	add_many();
	encode(200000);
	plan();
	write_parts();
	ck_assert_uint_gt(split.n_parts, 2);
	for (size_t i = 0; i < split.n_parts; i++) {
		int64_t end_ns = last_ns;

		for (size_t l = 0; l < parts[i]->planes[0]->n_lines; l++) {
			const struct line *in = &parts[i]->planes[0]->lines[l];

			for (size_t e = 0; e < in->n_events; e++) {
				ck_assert_int_gt(in->events[e].start_ns, last_ns);
				if (in->events[e].start_ns > end_ns)
					end_ns = in->events[e].start_ns;
			}
		}
		ck_assert_int_gt(end_ns, last_ns);
		last_ns = end_ns;
	}
}
END_TEST

START_TEST(every_part_has_the_warnings_and_names_of_the_whole)
{
	plane_set_string(plane, "ptap_process_name", "train");
	add_many();
	encode(300000);
	plan();
	write_parts();
	for (size_t i = 0; i < split.n_parts; i++) {
		ck_assert_str_eq(names_get(&parts[i]->warnings, 0), "careful");
		ck_assert_str_eq(
			plane_find_text(parts[i]->planes[0], "ptap_process_name"), "train");
		ck_assert_uint_eq(parts[i]->planes[0]->n_lines, 2);
		ck_assert_str_eq(parts[i]->planes[parts[i]->n_planes - 1]->name, PLANE_PART);
		ck_assert_str_eq(parts[i]->planes[0]->lines[1].name, "other");
	}
}
END_TEST

/* Most events are at one end, so equal lengths of time would not be good parts. */
START_TEST(bursts_are_cut_where_they_are)
{
	for (int i = 0; i < 20000; i++)
		add("burst", i, 1, int_stats("n", i, "one"));
	add("far", INT64_C(1) << 60, 1, 0);
	encode(100000);
	plan();
	write_parts();
	ck_assert_uint_eq(count("burst"), 20000);
	ck_assert_uint_eq(count("far"), 1);
}
END_TEST

START_TEST(unsplittable_space_is_refused)
{
	struct diag d = DIAG_INIT;

	for (int i = 0; i < 20000; i++)
		add("same", 7, 1, int_stats("n", i, "one"));
	encode(100000);
	ck_assert_int_eq(split_plan(&split, &d), -EFBIG);
	ck_assert_ptr_nonnull(strstr(d.text, "too many of its events begin at one time"));
	split.max_bytes = 40;
	ck_assert_int_eq(split_plan(&split, &d), -EFBIG);
	ck_assert_ptr_nonnull(strstr(d.text, "names of its events and threads alone"));
}
END_TEST

START_TEST(more_than_256_are_refused)
{
	struct diag d = DIAG_INIT;

	add_many();
	encode(1000);
	ck_assert_int_eq(split_plan(&split, &d), -EFBIG);
	ck_assert_ptr_nonnull(strstr(d.text, "more than 256"));
}
END_TEST

START_TEST(ends_when_its_callback_stops)
{
	struct diag d = DIAG_INIT;
	size_t n = 0;

	add_many();
	encode(100000);
	split.pass = give_up;
	split.context = &n_passes_left;
	for (n_passes_left = 0; split_plan(&split, &d); n_passes_left = n) {
		ck_assert_int_eq(d.code, -EINTR);
		ck_assert_ptr_nonnull(strstr(d.text, "not split: "));
		d = (struct diag)DIAG_INIT;
		n = 2 * n + 1;
	}
	/* One stop came after half of all calls: after the first walk. */
	ck_assert_uint_gt(n / 2, (n - n_passes_left) / 2);
}
END_TEST

/*
 * Lines of other programs may begin at an epoch time, and the field for that may follow the events.
 */
START_TEST(times_of_lines_are_added)
{
	static const uint8_t text[] =
		"\x0a\x2a" /* a plane */
		"\x1a\x12\x22\x04\x08\x01\x10\x00\x22\x08\x08\x01\x10\x80\x89\x7a\x18\x01\x18\x00"
		"\x1a\x14\x22\x04\x08\x01\x10\x00\x22\x04\x08\x01\x10\x00\x22\x04\x08\x01\x10\x00\x18\x64";

	bytes = malloc(sizeof text - 1);
	memcpy(bytes, text, sizeof text - 1);
	split.data = bytes;
	split.n_bytes = sizeof text - 1;
	split.n_parts = 3;
	split.max_bytes = 1000;
	split.starts_ns[1] = 100;
	split.starts_ns[2] = 2000;
	split.part_bytes[0] = SPLIT_MARK_BYTES + 6 + (6 + 2 + 6) + (6 + 2);
	split.part_bytes[1] = SPLIT_MARK_BYTES + 6 + (6 + 2) + (6 + 2 + 18);
	split.part_bytes[2] = SPLIT_MARK_BYTES + 6 + (6 + 2 + 10) + (6 + 2);
	write_parts();
	ck_assert_uint_eq(parts[0]->planes[0]->lines[0].n_events, 1);
	ck_assert_uint_eq(parts[1]->planes[0]->lines[1].n_events, 3);
	ck_assert_uint_eq(parts[2]->planes[0]->lines[0].n_events, 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(every_event_is_in_one_part),
	UNIT_TEST(parts_follow_each_other_in_time),
	UNIT_TEST(every_part_has_the_warnings_and_names_of_the_whole),
	UNIT_TEST(bursts_are_cut_where_they_are),
	UNIT_TEST(unsplittable_space_is_refused),
	UNIT_TEST(more_than_256_are_refused),
	UNIT_TEST(ends_when_its_callback_stops),
	UNIT_TEST(times_of_lines_are_added),
	{NULL},
};

UNIT_MAIN("split", .set_up = set_up, .tear_down = tear_down, .tests = tests)
