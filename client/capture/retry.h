/* SPDX-License-Identifier: Apache-2.0 */
/* Captures again when the target was busy, absent or idle. */
#ifndef CLIENT_RETRY_H
#define CLIENT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* A year: for good. */
#define RETRY_MAX_WAIT_S 31536000

struct capture;
struct diag;

struct retry {
	int64_t attempts; /* at least 1; also when the recording was empty */
	int64_t wait_s; /* for targets that are busy or absent, however often; 0: does not wait */
};

/* Whether the failure with the exit |code| and |d| may be another one a moment later: busy, or not there yet. */
bool retry_can_help(int code, const struct diag *d);

/*
 * As capture_run(), until it works or neither attempts nor time are left, with growing pauses; standard error says
 * why it is tried again. Between two of them, an interrupt (interrupt.h) ends it with EXIT_INTERRUPTED.
 */
int retry_capture(struct capture *capture, const struct retry *retry, struct diag *d);

#endif
