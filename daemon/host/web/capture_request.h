/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture is asked for by HTTP (docs/http-api.md, "Captures"). */
#ifndef DAEMON_CAPTURE_REQUEST_H
#define DAEMON_CAPTURE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/profile_options.h"

struct diag;

#define CAPTURE_REQUEST_MAX_TARGETS 64
#define CAPTURE_REQUEST_TARGET_BYTES 512
#define CAPTURE_REQUEST_MAX_DURATION_MS 86400000
#define CAPTURE_REQUEST_WAIT_MS 600000
#define CAPTURE_REQUEST_MAX_WAIT_MS 3600000

struct capture_request {
	char **targets; /* words as in daemon/host/programs/choice.h, or paths */
	size_t n_targets;
	char next[CAPTURE_REQUEST_TARGET_BYTES]; /* "": |targets| are meant */
	uint64_t duration_ms;
	uint64_t wait_ms; /* of |next| */
	int is_snapshot; /* of what is there already; the next three are its own */
	char session[128]; /* "": the one that runs, else the flight recorder */
	uint64_t last_ms; /* of the recorder; 0: all that it holds */
	int ends; /* the session, with what it has */
	char run[128]; /* "": named after the time */
	struct profile_options options;
	char *options_text; /* as asked: a JSON object; never NULL */
	char **warnings; /* options that are ignored */
	size_t n_warnings;
};

/* One that asks for nothing yet. 0 or -ENOMEM; capture_request_deinit() in any case. */
int capture_request_init(struct capture_request *q);
/* 0; -EINVAL with |d|, which names the member; -ENOMEM. capture_request_deinit() in any case. */
int capture_request_parse(struct capture_request *q, const char *text, size_t n, struct diag *d);
void capture_request_deinit(struct capture_request *q);

/* Whether an option was said. */
int capture_request_has_options(const struct capture_request *q);

#endif
