/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests golden traces, cut at each byte in turn, or with one bit flipped, each in turn: such a
 * trace is refused with a sentence, or every format can be made of it.
 */
#include "trace/read/archive.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/unit.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/read/view.h"

#define MAX_BYTES 4096

static uint8_t data[MAX_BYTES];
static size_t n_data;
static int nowhere;
static char directory[] = "/tmp/test_archive_hostile.XXXXXX";

static void set_up(void)
{
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(nowhere, 0);
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void tear_down(void)
{
	close(nowhere);
	ck_assert_int_eq(rmdir(directory), 0);
	memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
}

static void load(const char *name)
{
	const char *source = getenv("top_srcdir");
	char path[1024];
	FILE *file;

	snprintf(path, sizeof path, "%s/tests/golden/%s.xplane.pb", source ? source : "..", name);
	file = fopen(path, "re");
	ck_assert_msg(file != NULL, "%s: cannot be opened", path);
	n_data = fread(data, 1, sizeof data, file);
	ck_assert_uint_lt(n_data, sizeof data);
	fclose(file);
}

/* --- what a trace is used for -------------------------------------------------------------- */

static void write_to_sink(const struct codec *c, const struct view *view)
{
	static const struct codec_options options = {.level = 1, .n_threads = 1};
	struct codec_result result = {.n_items = 0};
	struct sink sink;

	ck_assert_int_eq(sink_init(&sink, nowhere, 0), 0);
	ck_assert_msg(c->write(view, &options, &sink, &result, NULL) == 0, "%s fails", c->name);
	ck_assert_int_eq(sink_finish(&sink), 0);
	sink_deinit(&sink);
}

static void write_to_file(const struct codec *c, const struct view *view)
{
	static const struct codec_options options = {.level = 1, .n_threads = 1};
	struct codec_result result = {.n_items = 0};
	char path[128];

	snprintf(path, sizeof path, "%s/out", directory);
	ck_assert_msg(c->write_file(view, &options, path, &result, NULL) == 0, "%s fails", c->name);
	ck_assert_int_eq(unlink(path), 0);
}

/* Formats that need a file cost more, so only |with_files| includes them. */
static void write_all(const struct view *view, bool with_files)
{
	for (const struct codec *const *c = codecs; *c; c++) {
		if ((*c)->write)
			write_to_sink(*c, view);
		else if (with_files)
			write_to_file(*c, view);
	}
}

/* Returns whether the archive is accepted. */
static bool use(size_t n, bool with_formats, bool with_files)
{
	static const struct view_options options = {.align = VIEW_ALIGN_EPOCH};
	struct diag d = DIAG_INIT;
	struct archive *archive;
	struct view *view;

	if (archive_read(data, n, "a.xplane.pb", &archive, &d)) {
		ck_assert_msg(
			strncmp(d.text, "a.xplane.pb: ", 13) == 0, "a refusal says \"%s\"", d.text);
		return false;
	}
	ck_assert_int_eq(view_open(&archive, 1, &options, &view, &d), 0);
	if (with_formats)
		write_all(view, with_files);
	view_free(view);
	return true;
}

/* --- cut and flipped ----------------------------------------------------------------------- */

static const char *const names[] = {"counters", "environment", "links", "spans", "steps"};

/* A truncated answer (*.broken) is refused, or opened up to the cut: after most cuts, opened. */
START_TEST(files_cut_anywhere_are_refused_or_opened_up_to_the_cut)
{
	char path[] = "/tmp/test_archive_XXXXXX.xplane.pb.broken";
	const struct view_options options = {.align = VIEW_ALIGN_EPOCH};
	int fd = mkstemps(path, (int)strlen(".xplane.pb.broken"));
	size_t n_read = 0;

	load(names[_i]);
	ck_assert_int_ge(fd, 0);
	for (size_t n = 1; n <= n_data; n++) {
		struct archive *archive = NULL;
		struct view *view = NULL;
		struct diag d = DIAG_INIT;
		int rc;

		ck_assert_int_eq(pwrite(fd, data, n, 0), (ssize_t)n);
		ck_assert_int_eq(ftruncate(fd, (off_t)n), 0);
		rc = archive_open(path, &archive, &d);
		if (rc) {
			ck_assert_int_eq(rc, -EBADMSG);
			continue;
		}
		ck_assert_int_eq(view_open(&archive, 1, &options, &view, &d), 0);
		view_free(view);
		n_read++;
	}
	ck_assert_uint_gt(n_read, n_data / 2);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(archive_cut_anywhere_is_survived)
{
	size_t n_taken = 0;

	load(names[_i]);
	for (size_t n = 0; n <= n_data; n++)
		n_taken += use(n, true, n % 64 == 0);
	ck_assert_uint_gt(n_taken, 0);
	ck_assert_uint_lt(n_taken, n_data / 2);
}
END_TEST

START_TEST(a_bit_flipped_anywhere_is_survived)
{
	size_t n_taken = 0;

	load(names[_i]);
	for (size_t i = 0; i < 8 * n_data; i++) {
		data[i / 8] ^= (uint8_t)(1 << i % 8);
		n_taken += use(n_data, i % 7 == 0, i % 70 == 0);
		data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ck_assert_uint_gt(n_taken, 0);
	ck_assert_uint_lt(n_taken, 8 * n_data);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(files_cut_anywhere_are_refused_or_opened_up_to_the_cut,
		sizeof names / sizeof *names),
	UNIT_LOOP(archive_cut_anywhere_is_survived, sizeof names / sizeof *names),
	UNIT_LOOP(a_bit_flipped_anywhere_is_survived, sizeof names / sizeof *names),
	{NULL},
};

UNIT_MAIN("archive_hostile", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60,
	.tests = tests)
