/* SPDX-License-Identifier: Apache-2.0 */
/* What ptap_trace_start() asks its server for. The options are text, so that only the server need know them. */
#ifndef LIB_TRACE_REQUEST_H
#define LIB_TRACE_REQUEST_H

#include <stddef.h>

#include "lib/wire/arena.h"

struct diag;
struct ptap_profile_options;

struct trace_request {
	char log_dir[sizeof((struct arena_trace *)0)->log_dir]; /* absolute */
	char options[sizeof((struct arena_trace *)0)->options]; /* lines key=value */
	size_t options_bytes; /* without the end */
};

/* Fills |q|; NULL for |options| are the defaults. 0 or a negative errno with |d|. */
int trace_request_make(struct trace_request *q, const char *log_dir,
	const struct ptap_profile_options *options, struct diag *d);

#endif
