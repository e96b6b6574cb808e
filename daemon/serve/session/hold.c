/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a hold; see hold.h. */
#include "daemon/serve/session/hold.h"

#include "base/clock.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/target/target.h"

#define HELD_NS (300 * NS_PER_S)
/* The robust word is some milliseconds before the process's end, or its new program. */
#define FIRST_INTERVAL_NS (10 * NS_PER_MS)
/* The way can go at any time. */
#define LAST_INTERVAL_NS (500 * NS_PER_MS)

void hold_init(struct hold *h, const struct target *t, const struct socket_file *way, int is_owed,
	int64_t now_ns)
{
	*h = (struct hold){
		.target = t,
		.way = way,
		.is_owed = is_owed,
		.interval_ns = FIRST_INTERVAL_NS,
		.until_ns = now_ns + HELD_NS,
	};
	hold_mark_make(&h->mark, way, t->name);
}

void hold_deinit(struct hold *h)
{
	hold_mark_remove(&h->mark);
}

static int is_another(struct hold *h)
{
	int was_another = h->was_another;

	h->was_another = target_has_become_another(h->target);
	return was_another && h->was_another;
}

int hold_is_over(struct hold *h, int64_t now_ns)
{
	if (now_ns >= h->until_ns || !h->way || !socket_file_is_there(h->way))
		return 1;
	return hold_mark_is_gone(&h->mark) || is_another(h) ||
	       (!h->is_owed && target_has_ended_well(h->target));
}

int64_t hold_get_due(struct hold *h, int64_t now_ns)
{
	int64_t due_ns = now_ns + h->interval_ns;

	if (h->interval_ns < LAST_INTERVAL_NS)
		h->interval_ns *= 2;
	return due_ns < h->until_ns ? due_ns : h->until_ns;
}
