/* SPDX-License-Identifier: Apache-2.0 */
/* A listener's rest; see rest.h. */
#include "daemon/kernel/rest.h"

#include <errno.h>

#define REST_MS 100

static void on_rested(uv_timer_t *timer)
{
	struct rest *rest = timer->data;

	uv_poll_start(rest->listener, UV_READABLE, rest->on_visit);
}

int rest_init(struct rest *rest, uv_loop_t *loop, uv_poll_t *listener, uv_poll_cb on_visit)
{
	rest->listener = listener;
	rest->on_visit = on_visit;
	rest->timer.data = rest;
	return uv_timer_init(loop, &rest->timer);
}

void rest_after(struct rest *rest, int error)
{
	if (error == EAGAIN || error == ECONNABORTED || error == EINTR)
		return;
	uv_poll_stop(rest->listener);
	uv_timer_start(&rest->timer, on_rested, REST_MS, 0);
}

void rest_end(struct rest *rest)
{
	uv_poll_stop(rest->listener);
	uv_timer_stop(&rest->timer);
}
