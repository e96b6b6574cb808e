/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of one target: from the log directory to the published file and its summary. */
#ifndef CLIENT_CAPTURE_H
#define CLIENT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/profile_options.h"
#include "client/address.h"
#include "trace/space.h" /* struct names */

struct diag;

struct capture {
	struct address address;
	struct profile_options options; /* duration_ms > 0 */
	const char *log_dir;
	const char *run; /* NULL: a new one, named after the time */
	const char *host_name; /* of the file; NULL: found out */
	int64_t timeout_ms; /* < 0: duration + delay + 60 s */
	bool is_json;
	bool has_program; /* whose standard output it is: the path goes to standard error, without progress */
	/* NULL, or: whether to publish what came (|space| NULL: too large to be read); else EXIT_EMPTY */
	bool (*is_wanted)(const struct space *space, void *context);
	void *context;
	struct names warnings; /* for the summary */
	char target[288]; /* out: the address that was reached or tried last */
};

#define CAPTURE_SLACK_MS 60000
#define CAPTURE_MAX_MS PROFILE_TO_THE_END_MS

/*
 * Captures once, and prints the summary and the path of the file. Returns an enum exit_code; when it
 * is not EXIT_DONE, |d| says why and nothing was published (an answer that cannot be read is kept
 * beside, and |d| says where).
 */
int capture_run(struct capture *capture, struct diag *d);

#endif
