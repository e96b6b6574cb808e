/* SPDX-License-Identifier: Apache-2.0 */
/* Ending with patience; see closing.h. */
#include "daemon/host/closing.h"

#include <string.h>

#include "base/log.h"

#define LOOK_MS 20
/* For those that were given up. */
#define FAREWELL_MS 1000

int closing_init(struct closing *c, uv_loop_t *loop, const struct closing_policy *policy)
{
	memset(c, 0, sizeof *c);
	c->policy = *policy;
	c->look.data = c;
	return uv_timer_init(loop, &c->look);
}

static void give_up(struct closing *c, unsigned n)
{
	log_warn(LOG_RPC, "%u calls did not end in time, and are given up", n);
	c->has_given_up = 1;
	c->policy.give_up(c->policy.context);
}

static void on_look(uv_timer_t *timer)
{
	struct closing *c = timer->data;
	unsigned n = c->policy.count(c->policy.context);
	uint64_t now = uv_now(timer->loop);

	if (n && now >= c->deadline_ms && !c->has_given_up)
		give_up(c, n);
	if (n && now < c->deadline_ms + FAREWELL_MS)
		return;
	uv_timer_stop(timer);
	c->policy.on_over(c->policy.context);
}

void closing_begin(struct closing *c, int64_t limit_ms)
{
	unsigned n = c->policy.count(c->policy.context);

	c->has_begun = 1;
	c->deadline_ms = uv_now(c->look.loop) + (uint64_t)limit_ms;
	if (n)
		log_info(LOG_RPC, "%u calls are under way, and have %lld s", n,
			(long long)limit_ms / 1000);
	uv_timer_start(&c->look, on_look, 0, LOOK_MS);
}

void closing_hurry(struct closing *c)
{
	if (c->deadline_ms > uv_now(c->look.loop))
		c->deadline_ms = uv_now(c->look.loop);
}

int64_t closing_get_rest_ms(const struct closing *c)
{
	uint64_t now = uv_now(c->look.loop);

	return c->deadline_ms > now ? (int64_t)(c->deadline_ms - now) : 0;
}
