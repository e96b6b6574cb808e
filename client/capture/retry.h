/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats a capture when the target was busy, absent or idle. */
#ifndef CLIENT_RETRY_H
#define CLIENT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* A year, which means no limit. */
#define RETRY_MAX_WAIT_S 31536000

struct client_capture;
struct diag;

struct retry {
	int64_t attempts; /* at least 1; empty recordings are repeated, too */
	/* The time for any number of tries while targets are busy or absent; 0: none. */
	int64_t wait_s;
};

/*
 * Returns true if another try may succeed after a failure with the exit |code| and |d|: the target
 * was busy, or not there yet.
 */
bool retry_can_help(int code, const struct diag *d);

/*
 * Calls client_capture_run() until it succeeds, another try cannot help, or neither attempts nor
 * time are left, with growing pauses. Prints the reason for each repetition by |attempts|, and once
 * for those by |wait_s|, to standard error. After an interrupt (interrupt.h) in a pause, it returns
 * EXIT_INTERRUPTED without another try.
 */
int retry_capture(struct client_capture *capture, const struct retry *retry, struct diag *d);

#endif
