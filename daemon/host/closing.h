/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time between being told to end and the end: what is under way may go on, for so long. What has not ended by then is given
 * up, and gets a second to say so.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_CLOSING_H
#define DAEMON_CLOSING_H

#include <stdint.h>
#include <uv.h>

/* What is under way. */
struct closing_policy {
	unsigned (*count)(void *context);
	void (*give_up)(void *context); /* they are told to end at once */
	void (*on_over)(void *context); /* nothing is, or the time is over; once */
	void *context;
};

struct closing {
	uv_timer_t look;
	struct closing_policy policy;
	uint64_t deadline_ms; /* the loop's clock */
	int has_begun;
	int has_given_up;
};

/* |c| stays where it is until the loop has ended. 0, or libuv's error. */
int closing_init(struct closing *c, uv_loop_t *loop, const struct closing_policy *policy);

/* Waits |limit_ms| at most. */
void closing_begin(struct closing *c, int64_t limit_ms);

/* Somebody cannot wait: as if the time were over. */
void closing_hurry(struct closing *c);

/* The time that is left. */
int64_t closing_get_rest_ms(const struct closing *c);

#endif
