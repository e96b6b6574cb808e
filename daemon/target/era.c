/* SPDX-License-Identifier: Apache-2.0 */
/* Eras of a recording; see era.h. */
#include "daemon/target/era.h"

#include <errno.h>
#include <stdlib.h>

static void era_clock_set(struct era_clock *c, uint64_t after_ticks)
{
	c->after_ticks = after_ticks;
	c->before_ticks = after_ticks + ERA_MAX_TICKS;
}

void era_clock_begin(struct era_clock *c, uint64_t earliest_ticks, uint64_t now_ticks)
{
	era_clock_set(c, earliest_ticks);
	c->begun_ticks = c->read_ticks = now_ticks;
}

/*
 * The rings may hold entries that were written since they were last read. That may be long ago if
 * the server or its machine stood still.
 */
static void era_clock_begin_next(struct era_clock *c, uint64_t now_ticks)
{
	era_clock_set(c, era_begin_before(c->read_ticks));
	c->begun_ticks = c->read_ticks;
	if (now_ticks + ERA_SKEW_TICKS > c->before_ticks) {
		c->after_ticks = 0;
		c->before_ticks = UINT64_MAX;
	}
}

void era_clock_update(struct era_clock *c, uint64_t now_ticks)
{
	/* A counter that was set back begins no era. */
	if ((int64_t)(now_ticks - c->begun_ticks) >= (int64_t)ERA_INTERVAL_TICKS)
		era_clock_begin_next(c, now_ticks);
	c->read_ticks = now_ticks;
}

int era_clock_tell(const struct era_clock *c, size_t end, struct era **eras, size_t *n_eras)
{
	struct era *last = *n_eras ? &(*eras)[*n_eras - 1] : NULL;
	struct era *more;

	if (!c->before_ticks)
		return 0;
	if (last && last->after_ticks == c->after_ticks && last->before_ticks == c->before_ticks) {
		last->end = end;
		return 0;
	}
	more = reallocarray(*eras, *n_eras + 1, sizeof *more);
	if (!more)
		return -ENOMEM;
	more[*n_eras] = (struct era){end, c->after_ticks, c->before_ticks};
	*eras = more;
	++*n_eras;
	return 0;
}
