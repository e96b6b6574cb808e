/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures nanoseconds of processor time and bytes per event: for each codec, which
 * includes reading a file in memory, and for reading alone. With two arguments it makes a
 * file for other measurements.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "tests/bench/sample_space.h"
#include "tests/bench/samples.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/xspace/xspace.h"

#define N_EVENTS 1000000
#define N_RUNS 3

/* Returns the encoded bytes in one block, or NULL when memory ran out. */
static uint8_t *encode(int n_events, bool with_stats, size_t *n_bytes)
{
	_cleanup_(space_freep) struct space *space = NULL;
	_cleanup_(chunks_deinit) struct chunks c = CHUNKS_INIT;
	uint8_t *bytes;

	if (sample_space_new(n_events, with_stats, &space) || xspace_encode(space, &c))
		return NULL;
	bytes = malloc(c.total_bytes);
	*n_bytes = 0;
	for (size_t i = 0; bytes && i < c.n_chunks; i++) {
		memcpy(bytes + *n_bytes, c.chunks[i].data, c.chunks[i].used_bytes);
		*n_bytes += c.chunks[i].used_bytes;
	}
	return bytes;
}

static int open_sample(const uint8_t *bytes, size_t n_bytes, struct view **view)
{
	struct archive *archive;
	struct diag d = DIAG_INIT;

	if (archive_read(bytes, n_bytes, "sample", &archive, &d) ||
		view_open(&archive, 1, &(struct view_options){.shifts_ns = NULL}, view, &d)) {
		fprintf(stderr, "%s\n", d.text);
		return -1;
	}
	return 0;
}

static int read_track(const struct view *view, const struct view_track *track)
{
	struct diag d = DIAG_INIT;
	struct cursor c;
	struct item item;
	int r = cursor_open(&c, view, track, &d);

	while (r >= 0 && (r = cursor_next(&c, &item)) > 0)
		;
	cursor_close(&c);
	return r;
}

static int read_all(const struct view *view)
{
	int r = 0;

	for (size_t i = 0; i < view->n_tracks && r == 0; i++)
		r = read_track(view, &view->tracks[i]);
	return r;
}

static int measure_reading(const char *what, const struct view *view)
{
	double ns[N_RUNS];

	for (int i = 0; i < N_RUNS; i++) {
		double start = process_cpu_ns();

		if (read_all(view))
			return 1;
		ns[i] = (process_cpu_ns() - start) / N_EVENTS;
	}
	printf("reading %s: %.1f ns/event 0 bytes/event\n", what, median(ns, N_RUNS));
	return 0;
}

static int convert(const struct view *view, const struct codec *codec, int level, bool is_gzip,
	uint64_t *n_bytes)
{
	_cleanup_close_ int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct codec_options options = {.level = level};
	struct codec_result result = {.n_items = 0};
	struct diag d = DIAG_INIT;
	struct sink sink;
	int r = sink_init(&sink, fd, is_gzip ? SINK_GZIP : 0);

	if (r == 0)
		r = codec->write(view, &options, &sink, &result, &d);
	if (r == 0)
		r = sink_finish(&sink);
	*n_bytes = sink.n_written;
	sink_deinit(&sink);
	return r;
}

/* Converts with a codec that cannot write to /dev/null. */
static int convert_file(const struct view *view, const struct codec *codec, uint64_t *n_bytes)
{
	static const struct codec_options options = {.level = -1};
	struct codec_result result = {.n_items = 0};
	struct diag d = DIAG_INIT;
	char path[] = "/tmp/bench_convert.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	int r = fd < 0 ? -1 : codec->write_file(view, &options, path, &result, &d);

	*n_bytes = result.n_bytes;
	return unlink(path) < 0 ? -1 : r;
}

static int measure(const char *what, const struct view *view, const struct codec *codec, int level,
	bool is_gzip)
{
	double ns[N_RUNS];
	uint64_t n_bytes;

	for (int i = 0; i < N_RUNS; i++) {
		double start = process_cpu_ns();

		if (codec->write ? convert(view, codec, level, is_gzip, &n_bytes)
				 : convert_file(view, codec, &n_bytes))
			return 1;
		ns[i] = (process_cpu_ns() - start) / N_EVENTS;
	}
	printf("%s%s %s: %.1f ns/event %.1f bytes/event\n", codec->name,
		level == 0 && !is_gzip ? " plain" : " deflated", what, median(ns, N_RUNS),
		(double)n_bytes / N_EVENTS);
	fflush(stdout);
	return 0;
}

/* Measures the codec's plain output, and its compressed files. */
static int measure_codec(const char *what, const struct view *view, const struct codec *codec)
{
	bool is_gzip = codec_is_gzip(codec, codec->suffix);
	int r;

	r = measure(what, view, codec, 0, false);
	if (r == 0 && (is_gzip || strcmp(codec->name, "perfetto") == 0))
		r = measure(what, view, codec, -1, is_gzip);
	return r;
}

static int measure_all(const char *what, bool with_stats, const char *only)
{
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n_bytes;
	int r;

	bytes = encode(N_EVENTS, with_stats, &n_bytes);
	if (!bytes || open_sample(bytes, n_bytes, &view))
		return 1;
	r = measure_reading(what, view);
	for (const struct codec *const *c = codecs; *c && r == 0; c++)
		if (!only || strcmp((*c)->name, only) == 0)
			r = measure_codec(what, view, *c);
	return r;
}

static int write_sample(int n_events, const char *path)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n_bytes;
	FILE *file = fopen(path, "we");
	int r;

	bytes = encode(n_events, true, &n_bytes);
	r = file && bytes && fwrite(bytes, 1, n_bytes, file) == n_bytes ? 0 : 1;
	return file && fclose(file) == 0 ? r : 1;
}

/* usage: bench_convert [CODEC]; bench_convert N_EVENTS FILE */
int main(int argc, char **argv)
{
	const char *only = argc == 2 ? argv[1] : NULL;

	if (argc == 3)
		return write_sample(atoi(argv[1]), argv[2]);
	return measure_all("without arguments", false, only) |
	       measure_all("with 2 arguments", true, only);
}
