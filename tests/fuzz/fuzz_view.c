/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of reading a trace event by event, in libFuzzer's form. The decoder accepts every
 * trace that the view accepts, with as many events, and the events are in order. Every format,
 * report and comparison handles it, alone and twice side by side, with the names of kernels
 * truncated. The same holds for the rest of a truncated trace.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/xspace_decode.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/archive_join.h"
#include "trace/read/cursor.h"
#include "trace/read/lanes.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"
#include "trace/report/diff.h"
#include "trace/report/diff_report.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"

static uint64_t read_track(const struct view *view, const struct view_track *track)
{
	struct lanes lanes = {.v = NULL};
	int64_t last_ns = INT64_MIN;
	struct cursor c;
	struct item item;
	uint64_t n = 0;
	int rc = cursor_open(&c, view, track, NULL);

	while (rc >= 0 && (rc = cursor_next(&c, &item)) > 0) {
		if (item.start_ns < last_ns || item.name >= view->names.n_texts ||
			lanes_place(&lanes, item.start_ns, item.duration_ns) < 0)
			abort();
		last_ns = item.start_ns;
		n++;
	}
	if (rc < 0)
		abort();
	cursor_close(&c);
	lanes_deinit(&lanes);
	return n;
}

static uint64_t read_all(const struct view *view)
{
	uint64_t n = 0;

	for (size_t i = 0; i < view->n_tracks; i++)
		n += read_track(view, &view->tracks[i]);
	return n;
}

/* Creates a new file for each call. */
static void write_to_file(
	const struct codec *c, const struct view *view, const struct codec_options *options)
{
	struct codec_result result = {.n_items = 0};
	char path[] = "/tmp/fuzz_view.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || c->write_file(view, options, path, &result, NULL) || unlink(path))
		abort();
	close(fd);
}

static void write_all(const struct view *view)
{
	static const struct codec_options options = {.level = 1, .n_threads = 1};
	_cleanup_close_ int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (const struct codec *const *c = codecs; *c; c++) {
		struct codec_result result = {.n_items = 0};
		struct sink sink;

		if ((*c)->write_file) {
			write_to_file(*c, view, &options);
			continue;
		}
		if (sink_init(&sink, fd, 0) || (*c)->write(view, &options, &sink, &result, NULL) ||
			sink_finish(&sink))
			abort();
		sink_deinit(&sink);
	}
}

/*
 * Compares the file with itself: the report must find no change, and that losses make some values
 * incomparable.
 */
static void compare(struct digest *digest, struct view *view, FILE *out)
{
	static const struct diff_limit limit = {DIFF_USUAL, NULL, 0};
	struct diff_judgements judgements = {.v = NULL};
	const struct diff_options options = {
		.path_a = "a", .path_b = "b", .judgements = &judgements};
	_cleanup_(digest_freep) struct digest *again = NULL;
	struct diff diff;

	if (digest_make(view, &again, NULL) || diff_make(digest, again, NULL, &diff, NULL) ||
		diff_judge(&diff, &limit, 1, &judgements) ||
		diff_write_text(&diff, digest, again, &options, out) ||
		diff_write_json(&diff, digest, again, &options, out) || diff.n)
		abort();
	for (size_t i = 0; i < judgements.n; i++)
		if (judgements.v[i].outcome != DIFF_PASSED &&
			judgements.v[i].outcome != DIFF_UNCOMPARED)
			abort();
	free(judgements.v);
	diff_deinit(&diff);
}

static void write_reports(struct view *view)
{
	static const struct report_options options = {.by_thread = true, .has_color = true};
	_cleanup_(digest_freep) struct digest *digest = NULL;
	FILE *out = fopen("/dev/null", "we");

	if (!out || digest_make(view, &digest, NULL) || report_write_text(digest, &options, out) ||
		report_write_json(digest, &options, out) || report_write_csv(digest, &options, out))
		abort();
	compare(digest, view, out);
	fclose(out);
}

static struct view *open_view(const uint8_t *data, size_t n_bytes, size_t n_archives)
{
	static const struct selection truncation = {.from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.device = SELECTION_ALL_DEVICES,
		.truncates_kernels = true};
	const struct view_options options = {
		.align = VIEW_ALIGN_EPOCH, .selection = n_archives > 1 ? &truncation : NULL};
	struct archive *archives[2];
	struct view *view;

	for (size_t i = 0; i < n_archives; i++)
		if (archive_read(data, n_bytes, "fuzz.xplane.pb", &archives[i], NULL))
			return NULL; /* only the first archive can be refused */
	if (view_open(archives, n_archives, &options, &view, NULL))
		abort();
	return view;
}

/*
 * Opens the input twice: as two captures of one process, or as two parts of one capture, if the
 * input says that it is a part.
 */
static void use_joined(const uint8_t *data, size_t n_bytes)
{
	const struct view_options options = {.align = VIEW_ALIGN_EPOCH};
	_cleanup_(view_freep) struct view *view = NULL;
	struct archive *archives[2];
	size_t n = 2;

	for (size_t i = 0; i < n; i++)
		if (archive_read(data, n_bytes, "fuzz.xplane.pb", &archives[i], NULL))
			return;
	if (archives_join(archives, &n, JOIN_PROCESSES) ||
		view_open(archives, n, &options, &view, NULL))
		abort();
	/* Events that are in both archives are counted once. */
	if (read_all(view) > view->n_events)
		abort();
}

static void use(const uint8_t *data, size_t n_bytes, size_t n_archives)
{
	_cleanup_(view_freep) struct view *view = open_view(data, n_bytes, n_archives);
	_cleanup_(space_freep) struct space *space = NULL;

	if (!view)
		return;
	if (xspace_decode(data, n_bytes, &space, NULL) ||
		view->n_events != n_archives * space_count_events(space))
		abort();
	if (read_all(view) != view->n_events)
		abort();
	write_all(view);
	write_reports(view);
}

/*
 * Repairs a truncated answer. The rest may be no trace at all, but each part that can be read is in
 * order and has a note.
 */
static void use_cut(const uint8_t *data, size_t n_bytes)
{
	static const char end[] = ".xplane.pb.broken";
	const struct view_options options = {.align = VIEW_ALIGN_EPOCH};
	_cleanup_(view_freep) struct view *view = NULL;
	char path[] = "/tmp/fuzz_view.XXXXXX.xplane.pb.broken";
	_cleanup_close_ int fd = mkostemps(path, sizeof end - 1, O_CLOEXEC);
	struct archive *archive;
	int rc;

	if (fd < 0 || write(fd, data, n_bytes) != (ssize_t)n_bytes)
		abort();
	rc = archive_open(path, &archive, NULL);
	if (unlink(path))
		abort();
	if (rc)
		return;
	if (view_open(&archive, 1, &options, &view, NULL) || read_all(view) != view->n_events ||
		(view->archives[0]->is_cut && !view->notes.n_texts))
		abort();
	write_reports(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	use(data, n_bytes, 1);
	use(data, n_bytes, 2);
	use_joined(data, n_bytes);
	use_cut(data, n_bytes);
	return 0;
}
