/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A codec is a format that a view can be written in. Commands look a codec up by its name or by the
 * ending of a file name, and treat all codecs alike. A new format is a file and a row in codec.c.
 */
#ifndef TRACE_CODEC_CODEC_H
#define TRACE_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct item;
struct sink;
struct view;
struct view_track;

#define CODEC_MAX_LOSSES 16

/* Counts things that a format could not express; summaries and warnings show it. */
struct codec_loss {
	const char *what; /* "flows", "arguments of bytes": plural, a literal */
	uint64_t n;
};

struct codec_result {
	uint64_t n_items; /* items written */
	uint64_t n_bytes; /* bytes written */
	struct codec_loss losses[CODEC_MAX_LOSSES];
	size_t n_losses;
};

struct codec_options {
	int level; /* level of compression, 0 to 9; -1: the codec's own */
	int64_t n_threads; /* threads that compress; 0: as many as there are processors */
};

#define CODEC_OPTIONS_INIT  \
	{                   \
		.level = -1 \
	}

struct codec {
	const char *name; /* argument of -t */
	const char *const *aliases; /* ends with NULL; may be NULL */
	/* Ending of its files, with the dot; ends with ".gz" if the sink compresses them */
	const char *suffix;
	/* Ending of uncompressed files if |suffix| is that of compressed ones; NULL: none */
	const char *plain_suffix;
	const char *help; /* one line that describes the format and its readers */
	bool compresses; /* the format itself is compressed, whatever the sink does */
	bool needs_file; /* it writes to a path, not to a sink, and so not to a pipe */
	/* Exactly one of |write| and |write_file| is set. 0 or a negative errno with |d|. */
	int (*write)(const struct view *view, const struct codec_options *options,
		struct sink *sink, struct codec_result *result, struct diag *d);
	int (*write_file)(const struct view *view, const struct codec_options *options,
		const char *path, struct codec_result *result, struct diag *d);
};

extern const struct codec *const codecs[]; /* ends with NULL */

/* Finds a codec by its name or alias; NULL if there is none. */
const struct codec *codec_find(const char *name);
/*
 * Finds the codec with the longest suffix that |path| ends with; ".gz" may follow it. NULL if there
 * is none.
 */
const struct codec *codec_find_by_path(const char *path);
/*
 * True if the sink compresses the file at |path|: its name ends with ".gz", or it is a pprof file
 * other than a plain one.
 */
bool codec_is_gzip(const struct codec *c, const char *path);
/* True if |path| ends with ".gz". */
bool codec_has_gzip_name(const char *path);
/* Returns the suffix of the codec's files: the plain one if |options| switch compression off. */
const char *codec_get_suffix(const struct codec *c, const struct codec_options *options);

/* Adds |n| to the loss named |what|. */
void codec_lose(struct codec_result *result, const char *what, uint64_t n);

/*
 * Returns the ns to add to the view's times for viewers that hold times in doubles and drop times
 * before 0: 0 if all times are between 0 and 2^53 (104 days), else minus the first time.
 */
int64_t codec_choose_shift(const struct view *view);

/*
 * Returns the type of an item for formats that name it: "span", "step", "async", "kernel",
 * "derived" (a span of a derived line, see view_tracks.c), "instant", "flow" (an instant at which a
 * flow begins or ends), "counter", "sample" (a thread ran) or "waiting" (a sampled thread waited).
 */
const char *codec_get_item_type(const struct view_track *track, const struct item *item);

/* --- codecs ----------------------------------------------------------------------------------- */

/* The codecs in the table of codec.c. */

extern const struct codec codec_chrome;
extern const struct codec codec_csv;
extern const struct codec codec_csv_kernel_stats;
extern const struct codec codec_csv_kernels;
extern const struct codec codec_csv_summary;
extern const struct codec codec_flame;
extern const struct codec codec_folded;
extern const struct codec codec_ndjson;
extern const struct codec codec_perfetto;
extern const struct codec codec_pprof;
extern const struct codec codec_speedscope;
extern const struct codec codec_sqlite;

#endif
