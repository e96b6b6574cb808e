/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses of a listener. When accept() finds no descriptor or no memory, the connection stays in the
 * kernel's queue and the listener stays readable, so the loop would call accept() without a break
 * and use a whole processor. The loop therefore ignores the listener for 100 ms.
 *
 * Threads: only the loop's.
 */
#ifndef DAEMON_ACCEPT_PAUSE_H
#define DAEMON_ACCEPT_PAUSE_H

#include <uv.h>

struct accept_pause {
	uv_timer_t timer;
	uv_poll_t *listener;
	uv_poll_cb on_visit;
};

/*
 * |rest| will watch |listener| for UV_READABLE with |on_visit|. |rest| must not be moved until the
 * loop has ended. Returns 0 or libuv's error.
 */
int accept_pause_init(
	struct accept_pause *rest, uv_loop_t *loop, uv_poll_t *listener, uv_poll_cb on_visit);

/*
 * Begins a pause of 100 ms after accept() failed with the errno |error|, unless |error| only means
 * that there was no connection to accept.
 */
void accept_pause_start(struct accept_pause *rest, int error);

/* Stops watching the listener, and ends a pause. */
void accept_pause_end(struct accept_pause *rest);

#endif
