/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time between being told to end and the end: calls under way may go on, for so long. Those that have not ended by then are given
 * up, and get a second to say so.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_CLOSING_H
#define DAEMON_CLOSING_H

#include <stdint.h>
#include <uv.h>

struct errands;

struct closing {
	uv_timer_t look;
	struct errands *errands; /* borrowed */
	uint64_t deadline_ms; /* the loop's clock */
	int has_begun;
	int has_given_up;
	void (*on_over)(void *context);
	void *context;
};

/* |c| stays where it is until the loop has ended. 0, or libuv's error. */
int closing_init(struct closing *c, uv_loop_t *loop, struct errands *errands);

/* Waits |limit_ms| at most; then, or when nothing is under way, |on_over| is told, once: it may be at once. */
void closing_begin(
	struct closing *c, int64_t limit_ms, void (*on_over)(void *context), void *context);

/* Somebody cannot wait: as if the time were over. */
void closing_hurry(struct closing *c);

/* What is left of the time. */
int64_t closing_get_rest_ms(const struct closing *c);

#endif
