/* SPDX-License-Identifier: Apache-2.0 */
/* A view into a file of another format: what convert does, and capture --format, and view before it serves the file. */
#ifndef CLIENT_CONVERSION_H
#define CLIENT_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct codec;
struct diag;
struct view;

struct conversion {
	const struct codec *codec; /* NULL: what the end of |output| says */
	const char *output; /* path; "-": standard output; NULL: beside the trace */
	bool is_json;
};

/* 0, or -EINVAL with |d|. */
int conversion_set_format(struct conversion *c, const char *name, struct diag *d);
/* Whether there is a format, and it can go where it is to go; sets it from |output|. */
int conversion_check(struct conversion *c, struct diag *d);
/*
 * Writes the view of the trace (or run directory) at |path| and says so: the file on standard output, how much it is and what
 * is lost in the format on standard error. 0, or a negative errno with |d|.
 */
int conversion_run(
	const struct conversion *c, const struct view *view, const char *path, struct diag *d);
/* The name of format i; NULL: there are no more. */
const char *conversion_get_format(size_t i);
/* A line for each. */
void conversion_print_formats(FILE *out);

#endif
