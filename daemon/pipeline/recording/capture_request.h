/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request for one recording. It is filled by the decoder of a client's call, by local_trace.c for
 * the program's own trace, or by the flight recorder; the recording uses it unchanged. It is
 * constant while the recording runs, so any thread may read it then.
 */
#ifndef DAEMON_CAPTURE_REQUEST_H
#define DAEMON_CAPTURE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/profile_options.h"

struct diag;
struct profile_options;

/* A request can have very many mistakes. */
#define CAPTURE_MAX_WARNINGS 32

struct capture_request {
	struct profile_options options;
	uint8_t *options_bytes; /* malloc'ed: the serialised options, echoed into the trace */
	size_t n_options_bytes;
	char *warnings[CAPTURE_MAX_WARNINGS]; /* malloc'ed texts that go into the trace */
	size_t n_warnings;
	/*
	 * Borrowed: the reason for a trace that no call waits for. It goes into
	 * the trace. NULL: none
	 */
	const char *reason;
	/*
	 * capture_find_start_ns() of the options, when the request came: the system's clock may be
	 * set anew later
	 */
	int64_t start_ns;
	/* The largest trace that the client can take; the newest records are kept. 0: any size */
	uint64_t max_xspace_bytes;
	/* the recording's length is not known: when memory is full, the oldest data is dropped */
	bool keeps_newest;
	/* traces of other processes are added later, so a warning must name the program itself */
	bool has_others;
};

void capture_request_deinit(struct capture_request *request);
/*
 * Adds a text that goes into the trace. When there are too many, the last text
 * says so. 0 or -ENOMEM.
 */
int capture_request_warn(struct capture_request *request, const char *text);
/* Returns the options for collectors (collect_options.h); NULL: devices are not recorded. */
const struct profile_options *capture_request_get_device_options(
	const struct capture_request *request);

/*
 * Serialises the options of a trace that no client's call asked for, in the form that a Profile
 * call has: each trace contains its options.
 */

/* |repository| may be NULL. Owner: *out belongs to the caller (free). 0 or -ENOMEM. */
int options_echo(
	const struct profile_options *from, const char *repository, uint8_t **out, size_t *n_out);

/* The options of a flight recorder as the program wrote them: lines key=value (struct arena). */

/*
 * Sets the options of |lines|, which is changed, in |o|. 0; -EINVAL with |d| naming key, value, and
 * the nearest key or range; -ENOMEM.
 */
int recorder_options_parse(struct profile_options *o, char *lines, struct diag *d);

#endif
