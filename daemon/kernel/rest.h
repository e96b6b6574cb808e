/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listener's rest. When accept() finds no descriptor or no memory the connection stays in the kernel's queue, and the
 * listener stays readable: to go on watching would use a whole processor. It is watched again a little later.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_REST_H
#define DAEMON_REST_H

#include <uv.h>

struct rest {
	uv_timer_t timer;
	uv_poll_t *listener;
	uv_poll_cb on_visit;
};

/* |listener| is watched for UV_READABLE with |on_visit|; it stays where it is until the loop has ended. 0 or libuv's. */
int rest_init(struct rest *rest, uv_loop_t *loop, uv_poll_t *listener, uv_poll_cb on_visit);

/* After accept() failed with the errno |error|: 100 ms, unless there was just nobody. */
void rest_after(struct rest *rest, int error);

/* The listener is not watched any more. */
void rest_end(struct rest *rest);

#endif
