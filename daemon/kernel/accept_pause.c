/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses of a listener; see accept_pause.h. */
#include "daemon/kernel/accept_pause.h"

#include <errno.h>

#define REST_MS 100

static void accept_pause_on_timer(uv_timer_t *timer)
{
	struct accept_pause *rest = timer->data;

	uv_poll_start(rest->listener, UV_READABLE, rest->on_visit);
}

int accept_pause_init(
	struct accept_pause *rest, uv_loop_t *loop, uv_poll_t *listener, uv_poll_cb on_visit)
{
	rest->listener = listener;
	rest->on_visit = on_visit;
	rest->timer.data = rest;
	return uv_timer_init(loop, &rest->timer);
}

void accept_pause_start(struct accept_pause *rest, int error)
{
	if (error == EAGAIN || error == ECONNABORTED || error == EINTR)
		return;
	uv_poll_stop(rest->listener);
	uv_timer_start(&rest->timer, accept_pause_on_timer, REST_MS, 0);
}

void accept_pause_end(struct accept_pause *rest)
{
	uv_poll_stop(rest->listener);
	uv_timer_stop(&rest->timer);
}
