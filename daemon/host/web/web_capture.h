/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that a client asks the host daemon for by HTTP (docs/http-api.md, "Captures"): the programs, the length and
 * the options. The host daemon makes the programs' Capture calls of it.
 */
#ifndef DAEMON_WEB_CAPTURE_H
#define DAEMON_WEB_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/profile_options.h"

struct diag;

#define WEB_CAPTURE_MAX_TARGETS 64
#define WEB_CAPTURE_TARGET_BYTES 512
#define WEB_CAPTURE_MAX_DURATION_MS 86400000
#define WEB_CAPTURE_WAIT_MS 600000
#define WEB_CAPTURE_MAX_WAIT_MS 3600000

struct web_capture {
	char **targets; /* words as in daemon/host/programs/choice.h, or paths */
	size_t n_targets;
	char next[WEB_CAPTURE_TARGET_BYTES]; /* "": |targets| are meant */
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

/* An empty request. 0 or -ENOMEM; web_capture_deinit() in any case. */
int web_capture_init(struct web_capture *q);
/* 0; -EINVAL with |d|, which names the member; -ENOMEM. web_capture_deinit() in any case. */
int web_capture_parse(struct web_capture *q, const char *text, size_t n, struct diag *d);
void web_capture_deinit(struct web_capture *q);

/*
 * Reads the options of |value|, an object. They are checked against the rest of the request later. 0; -EINVAL with |d|;
 * -ENOMEM.
 */
int web_capture_take_options(struct web_capture *q, const json_t *value, struct diag *d);
/* The request has at least one option. */
int web_capture_has_options(const struct web_capture *q);

#endif
