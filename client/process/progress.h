/* SPDX-License-Identifier: Apache-2.0 */
/* One line on standard error that changes in place. It is only drawn on a terminal. */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_line {
	const char *target; /* the name of the target, or the number of targets in words */
	int64_t elapsed_ms; /* the time since the call began */
	int64_t delay_ms; /* from the call's beginning to the recording's start */
	int64_t duration_ms;
	int64_t timeout_ms; /* the limit of the call */
	uint64_t recorded_bytes; /* recorded so far at all targets together; 0: not known */
	int64_t received_bytes;
	uint64_t announced_bytes; /* the size of the whole answer; 0: not known */
	bool is_stopping; /* interrupted: waiting for the data */
	size_t n_over; /* number of finished targets, also failed ones */
	size_t n_targets;
};

void progress_draw(const struct progress_line *p);
/*
 * Draws a line about the work on |n_bytes| that have arrived, such as "reading them back". Draws
 * nothing for small amounts, which take no time.
 */
void progress_draw_work(const char *target, const char *doing, uint64_t n_bytes);
void progress_clear(void);

#endif
