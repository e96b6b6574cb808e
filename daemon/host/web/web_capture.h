/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that a client asks the host daemon for by HTTP (docs/http-api.md, "Captures"): the
 * programs, the length and the options. The host daemon makes a Capture call to each program from
 * it.
 */
#ifndef DAEMON_WEB_CAPTURE_H
#define DAEMON_WEB_CAPTURE_H

#include <stdbool.h>
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
	char **targets; /* words as in daemon/host/programs/choice.h, or paths of programs */
	size_t n_targets;
	/* Pattern of a program to wait for; "": |targets| selects the programs. */
	char next[WEB_CAPTURE_TARGET_BYTES];
	uint64_t duration_ms;
	uint64_t wait_ms; /* longest wait for |next| */
	bool is_snapshot; /* reads the data of a session; otherwise the next three are unused */
	char session[128]; /* "": the session that runs, or else the flight recorder */
	uint64_t last_ms; /* the last part of the recorder's data; 0: all of it */
	int ends; /* the snapshot ends the session */
	char run[128]; /* "": the run is named after the time */
	struct profile_options options;
	char *options_text; /* the JSON object of the request; never NULL */
	char **warnings; /* options that are ignored */
	size_t n_warnings;
};

/* Makes an empty request. 0 or -ENOMEM. Call web_capture_deinit() in any case. */
int web_capture_init(struct web_capture *q);
/*
 * Parses a body. 0; -EINVAL with |d|, which names the member; -ENOMEM. Call web_capture_deinit() in
 * any case.
 */
int web_capture_parse(struct web_capture *q, const char *text, size_t n, struct diag *d);
void web_capture_deinit(struct web_capture *q);

/*
 * Reads the options of |value|, an object. They are checked against the rest of the request later.
 * 0; -EINVAL with |d|; -ENOMEM.
 */
int web_capture_take_options(struct web_capture *q, const json_t *value, struct diag *d);
/* Returns true if the request has at least one option. */
bool web_capture_has_options(const struct web_capture *q);

#endif
