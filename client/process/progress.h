/* SPDX-License-Identifier: Apache-2.0 */
/* One line on standard error that changes in place; nothing unless that is a terminal. */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *target; /* or how many */
	int64_t elapsed_ms; /* since the call began */
	int64_t delay_ms; /* until the recording starts */
	int64_t duration_ms;
	int64_t timeout_ms; /* of the call */
	uint64_t recorded_bytes; /* so far, at the target; 0: not known */
	int64_t received_bytes;
	uint64_t announced_bytes; /* that there will be; 0: not known */
	int is_stopping; /* interrupted: waiting for the data */
	size_t n_over; /* of many targets, those whose data is here */
	size_t n_targets;
};

void progress_draw(const struct progress *p);
/* What is done with so much data once it is here: "reading it back", for one. Nothing where that takes no time. */
void progress_draw_work(const char *target, const char *doing, uint64_t n_bytes);
void progress_clear(void);

#endif
