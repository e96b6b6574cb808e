/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a view into a file of another format, for proftap convert, capture --format and view. */
#ifndef CLIENT_CONVERSION_H
#define CLIENT_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/codec/codec.h"

struct diag;
struct json;
struct view;

struct trace_conversion {
	const struct codec *codec; /* NULL: the suffix of |output| decides */
	struct codec_options options;
	const char *output; /* a path; "-": standard output; NULL: a file beside the trace */
	bool is_json;
};

#define CONVERSION_INIT                       \
	{                                     \
		.options = CODEC_OPTIONS_INIT \
	}

/* Parse the values of options. 0, or -EINVAL with |d|. */
int conversion_set_format(struct trace_conversion *c, const char *name, struct diag *d);
int conversion_set_compression(struct trace_conversion *c, const char *value, struct diag *d);
/*
 * Sets a missing format from |output| and checks that the format can be written there. 0,
 * or -EINVAL with |d|.
 */
int conversion_check(struct trace_conversion *c, struct diag *d);
/* Checks that the output can be compressed as the options say. conversion_check() includes this. */
int conversion_check_compression(const struct trace_conversion *c, struct diag *d);
/*
 * Writes the view of the trace (or run directory) at |path|. Prints the file's path to standard
 * output, and the size and losses to standard error; with |is_json|, prints a JSON object to
 * standard output instead. 0, or a negative errno with |d|.
 */
int conversion_run(const struct trace_conversion *c, const struct view *view, const char *path,
	struct diag *d);

/*
 * Writes the view to a descriptor, with a codec that needs no file. 0, or a negative errno; |d| may
 * stay empty if the errno is the whole reason.
 */
int conversion_write(const struct trace_conversion *c, const struct view *view, int fd,
	bool is_gzip, struct codec_result *result, struct diag *d);
/*
 * Writes the view to a file beside the trace (or run directory) at |path|, with the trace's name
 * and the format's suffix. *file is the path, which the caller frees; it is NULL on failure. 0, or
 * a negative errno with |d|.
 */
int conversion_write_beside(const struct codec *codec, const struct view *view, const char *path,
	char **file, struct codec_result *result, struct diag *d);
/*
 * Prints the view's notes, and the number of items that the format cannot express, to standard
 * error.
 */
void conversion_say_losses(
	const struct codec *codec, const struct view *view, const struct codec_result *result);
/* Writes the counters, losses and notes as members of a JSON object. */
void conversion_write_json_members(
	const struct view *view, const struct codec_result *result, struct json *j);

/* Returns the name of format i; NULL: there are no more. */
const char *conversion_get_format(size_t i);
/* Prints a line for each format. */
void conversion_print_formats(FILE *out);

/* --- the formats of --format --------------------------------------------------------------- */

#define FORMATS_MAX 16

struct formats {
	const struct codec *codecs[FORMATS_MAX]; /* all different */
	size_t n;
};

/*
 * Adds the formats of a list such as "perfetto,pprof". "xspace" is accepted and not added, because
 * it is always written. 0, or a negative errno with |d|.
 */
int formats_parse(struct formats *f, const char *words, struct diag *d);
/* Returns name i of "xspace" and the names of all other formats; NULL: there are no more. */
const char *formats_get_name(size_t i);

#endif
