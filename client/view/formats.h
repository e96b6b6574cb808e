/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of --format: what is written beside a trace. */
#ifndef CLIENT_FORMATS_H
#define CLIENT_FORMATS_H

#include <stddef.h>

struct codec;
struct diag;

#define FORMATS_MAX 16

struct formats {
	const struct codec *codecs[FORMATS_MAX]; /* all different */
	size_t n;
};

/* Adds those of "perfetto,pprof"; "xspace", which is always written, is no other. 0 or -EINVAL with |d|. */
int formats_parse(struct formats *f, const char *words, struct diag *d);
/* "xspace", then the names of all others; NULL: there are no more. */
const char *formats_get_name(size_t i);

#endif
