/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a continuous session, or the flight recorder, at a server of proftap.v1 or another one. */
#ifndef CLIENT_SESSION_START_H
#define CLIENT_SESSION_START_H

#include <stdbool.h>
#include <stdint.h>

struct address;
struct diag;
struct profile_options;

struct session_start {
	/* Given by the caller. */
	struct address *address; /* made more exact by connecting */
	const struct profile_options *options; /* session_id set */
	const char *host_name; /* of the files, or NULL: the server's choice */
	int64_t timeout_ms;
	bool of_recorder; /* which only servers of proftap.v1 have */

	/* Results. */
	char session_id[128]; /* by which the server knows it; "": by none, a stock server's */
	bool is_bounded; /* the newest data is kept, the rest goes; stock servers keep all */
	uint64_t max_capture_bytes; /* 0: not known */
	char process[64]; /* "": not known */
	int32_t pid; /* 0: not known */
};

/* An enum exit_code, with |d| when it is not EXIT_DONE. */
int session_start_run(struct session_start *s, struct diag *d);

#endif
