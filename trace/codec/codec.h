/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats that a view can be written in: one row each. Commands look a row up by name or by a file's end, and never ask
 * which it is. A new format is a file and a row in codec.c.
 */
#ifndef TRACE_CODEC_CODEC_H
#define TRACE_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct sink;
struct view;

/* What a format could not say, for the summary and the warnings: counted, never silent. */
#define CODEC_MAX_LOSSES 16

struct codec_loss {
	const char *what; /* "flows", "arguments of bytes": plural, a literal */
	uint64_t n;
};

struct codec_result {
	uint64_t n_items; /* written */
	uint64_t n_bytes; /* likewise */
	struct codec_loss losses[CODEC_MAX_LOSSES];
	size_t n_losses;
};

struct codec_options {
	int level; /* of compression, 0 to 9; -1: the codec's own */
	int64_t n_threads; /* to compress with; 0: as many as there are processors */
};

#define CODEC_OPTIONS_INIT  \
	{                   \
		.level = -1 \
	}

struct codec {
	const char *name; /* for -t */
	const char *const *aliases; /* ends with NULL; may be NULL */
	const char
		*suffix; /* of its files, with the dot; ends with ".gz" where they are compressed */
	const char *
		plain_suffix; /* of those that are not compressed, where |suffix| is of those that are; NULL: none */
	const char *help; /* one line: what it is and who opens it */
	bool compresses; /* inside of its format, whatever the sink does */
	bool needs_file; /* writes by path, not to a sink: cannot go into a pipe */
	/* Exactly one of the two. 0 or a negative errno with |d|. */
	int (*write)(const struct view *view, const struct codec_options *options,
		struct sink *sink, struct codec_result *result, struct diag *d);
	int (*write_file)(const struct view *view, const struct codec_options *options,
		const char *path, struct codec_result *result, struct diag *d);
};

extern const struct codec *const codecs[]; /* ends with NULL */

/* NULL if there is none. */
const struct codec *codec_find(const char *name);
/* By the end of a file's name, the longest that a row has; ".gz" may stand behind it. NULL if there is none. */
const struct codec *codec_find_by_path(const char *path);
/* Whether the sink compresses what goes into the file at |path|: a name with ".gz", and of pprof's all but the plain ones. */
bool codec_is_gzip(const struct codec *c, const char *path);
/* Whether the name itself says so. */
bool codec_has_gzip_name(const char *path);
/* The end of its files' names with the options: that of plain ones where nothing is compressed. */
const char *codec_get_suffix(const struct codec *c, const struct codec_options *options);

/* Adds to the loss of that name. */
void codec_lose(struct codec_result *result, const char *what, uint64_t n);

/*
 * What is added to the view's times in ns for viewers that hold them in doubles, and drop those before 0: nothing while all
 * are within 0 and 2^53 (104 days), else as much as the first one needs to be 0.
 */
int64_t codec_choose_shift(const struct view *view);

#endif
