/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses of a listener. When accept() finds no descriptor or no memory, the connection stays in the
 * kernel's queue, and the listener stays readable: watching it further would use a whole processor.
 * So it is watched again after 100 ms.
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
 * listener| is watched for UV_READABLE with |on_visit|; it must stay where it is until the loop has
 * ended. 0 or libuv's error.
 */
int accept_pause_init(
	struct accept_pause *rest, uv_loop_t *loop, uv_poll_t *listener, uv_poll_cb on_visit);

/*
 * Begins a pause of 100 ms after accept() failed with the errno |error|, unless there was just no
 * connection.
 */
void accept_pause_start(struct accept_pause *rest, int error);

/* Ends the watching of the listener. */
void accept_pause_end(struct accept_pause *rest);

#endif
