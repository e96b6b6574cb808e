/* SPDX-License-Identifier: Apache-2.0 */
/* A view into a file of another format: what convert does, and capture --format, and view before it serves the file. */
#ifndef CLIENT_CONVERSION_H
#define CLIENT_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/codec/codec.h"

struct diag;
struct json;
struct view;

struct conversion {
	const struct codec *codec; /* NULL: what the end of |output| says */
	struct codec_options options;
	const char *output; /* path; "-": standard output; NULL: beside the trace */
	bool is_json;
};

#define CONVERSION_INIT                       \
	{                                     \
		.options = CODEC_OPTIONS_INIT \
	}

/* 0, or -EINVAL with |d|. */
int conversion_set_format(struct conversion *c, const char *name, struct diag *d);
int conversion_set_compression(struct conversion *c, const char *value, struct diag *d);
/* Whether there is a format, and it can go where it is to go; sets it from |output|. */
int conversion_check(struct conversion *c, struct diag *d);
/* The part of that which asks whether what goes there can be compressed as the options say. */
int conversion_check_compression(const struct conversion *c, struct diag *d);
bool conversion_is_to_stdout(const struct conversion *c);
/*
 * Writes the view of the trace (or run directory) at |path| and says so: the file on standard output, how much it is and what
 * is lost in the format on standard error. 0, or a negative errno with |d|.
 */
int conversion_run(
	const struct conversion *c, const struct view *view, const char *path, struct diag *d);

/*
 * The parts of that. Into a descriptor, for codecs that need no file; and into the file beside the trace (or run directory) at |path|
 * that has the name of that and the end of the format: *file is the caller's, NULL on failure. 0, or a negative errno with |d|
 * (of the first: where there is more to say than that).
 */
int conversion_write(const struct conversion *c, const struct view *view, int fd, bool is_gzip,
	struct codec_result *result, struct diag *d);
int conversion_write_beside(const struct codec *codec, const struct view *view, const char *path,
	char **file, struct codec_result *result, struct diag *d);
/* The notes of the view and what the format could not express, to standard error; with all that is counted, as JSON. */
void conversion_say_losses(
	const struct codec *codec, const struct view *view, const struct codec_result *result);
void conversion_write_json_members(
	const struct view *view, const struct codec_result *result, struct json *j);

/* The name of format i; NULL: there are no more. */
const char *conversion_get_format(size_t i);
/* A line for each. */
void conversion_print_formats(FILE *out);

#endif
