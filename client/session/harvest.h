/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches what a continuous session has recorded into the log directory, as a capture's trace.
 * Servers of proftap.v1 go on, or end, without a gap; others are asked for GetSnapshot, and told to
 * stop once that is read.
 */
#ifndef CLIENT_HARVEST_H
#define CLIENT_HARVEST_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct diag;

struct harvest {
	struct capture *capture; /* of one target; has the log directory and other options */
	const char *session; /* NULL: whichever runs */
	bool ends; /* the session ends with this */
	uint64_t last_ms; /* the newest ms of the flight recorder; 0: all of whichever runs */
	bool keeps; /* the server of a dead program goes on holding its data, for others */
};

/*
 * Prints the summary and the path of the file. An enum exit_code; when it is not EXIT_DONE, |d| says why and nothing was
 * published, unless capture->is_reported: then only the end of the session failed.
 */
int harvest_run(const struct harvest *h, struct diag *d);

/* Ends the session; what it holds is dropped. An enum exit_code. */
int harvest_discard(const struct harvest *h, struct diag *d);

#endif
