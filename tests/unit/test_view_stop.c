/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of struct view_stop: every codec returns -ECANCELED, at whichever check the stop is wanted.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

/*
 * Enough events for several calls of is_over() while they are read, and while a database is
 * indexed.
 */
#define N_EVENTS 20000

static int n_looks;
static int limit; /* is_over() returns false for so many calls */
static struct diag d;

static bool is_over(const void *context)
{
	(void)context;
	return ++n_looks > limit;
}

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	for (int i = 0; i < N_EVENTS; i++)
		add("event", 10 * i, 5, 0);
	view_add_space(space, "a.xplane.pb");
	view_make(&(struct view_options){.align = VIEW_ALIGN_EPOCH});
	view->stop = (struct view_stop){is_over, NULL};
}

static void tear_down(void)
{
	view_fixture_close();
	space_fixture_close();
}

static int write_to_sink(const struct codec *codec, struct codec_result *result)
{
	static const struct codec_options options = {.level = -1};
	struct sink sink;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int r;

	ck_assert_int_eq(sink_init(&sink, fd, false), 0);
	r = codec->write(view, &options, &sink, result, &d);
	if (r == 0)
		r = sink_finish(&sink);
	sink_deinit(&sink);
	close(fd);
	return r;
}

static int write_to_file(const struct codec *codec, struct codec_result *result)
{
	static const struct codec_options options = {.level = -1};
	char path[] = "/tmp/test_view_stop.XXXXXX";
	int fd = mkstemp(path);
	int r;

	ck_assert_int_ge(fd, 0);
	r = codec->write_file(view, &options, path, result, &d);
	close(fd);
	unlink(path);
	return r;
}

/*
 * Writes the view with |codec|; is_over() returns false for the first |n| calls. Returns the number
 * of its calls.
 */
static int try(const struct codec *codec, int n, int expected)
{
	struct codec_result result = {.n_items = 0};
	int r;

	n_looks = 0;
	limit = n;
	d = (struct diag)DIAG_INIT;
	r = codec->write ? write_to_sink(codec, &result) : write_to_file(codec, &result);
	ck_assert_msg(r == expected, "%s, %d looks: %d %s", codec->name, n, r, d.text);
	return n_looks;
}

/* The codecs for kernels find none in this view, so they write nothing and never call is_over(). */
START_TEST(a_codec_gives_up_at_any_look)
{
	int n = try(codecs[_i], INT_MAX, 0);

	for (int i = 0; i < n; i++)
		try(codecs[_i], i, -ECANCELED);
}
END_TEST

START_TEST(converting_a_long_track_checks_for_a_stop)
{
	ck_assert_int_ge(try(codec_find("csv"), INT_MAX, 0), N_EVENTS / 2000);
	try(codec_find("csv"), 3, -ECANCELED);
	ck_assert_str_eq(d.text, "a.xplane.pb: interrupted");
}
END_TEST

/* Indexing reads no items, so the database itself must call is_over(). */
START_TEST(building_database_indexes_checks_for_a_stop)
{
	int n = try(codec_find("csv"), INT_MAX, 0);

	ck_assert_int_gt(try(codec_find("sqlite"), INT_MAX, 0), n + 5);
}
END_TEST

static int count_codecs(void)
{
	int n = 0;

	while (codecs[n])
		n++;
	return n;
}

static const struct unit_test tests[] = {
	UNIT_COUNTED(a_codec_gives_up_at_any_look, count_codecs),
	UNIT_TEST(converting_a_long_track_checks_for_a_stop),
	UNIT_TEST(building_database_indexes_checks_for_a_stop),
	{NULL},
};

UNIT_MAIN("stop", .set_up = set_up, .tear_down = tear_down, .tests = tests)
