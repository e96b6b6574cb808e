/* SPDX-License-Identifier: Apache-2.0 */
/* Counting traces on their way; see stream_place.h. */
#include "daemon/serve/message/stream_place.h"

#include <errno.h>

static atomic_uint *get_count(const struct stream_place *p)
{
	return p->is_for_later ? &p->all->n_waiting : &p->all->n;
}

int stream_place_take(const struct stream_place *p)
{
	unsigned max = p->is_for_later ? TRACE_STREAM_MAX_WAITING : TRACE_STREAM_MAX;

	if (atomic_fetch_add(get_count(p), 1) < max)
		return 0;
	stream_place_leave(p);
	return -EUSERS;
}

void stream_place_leave(const struct stream_place *p)
{
	atomic_fetch_sub(get_count(p), 1);
}

void stream_place_change(struct stream_place *p)
{
	if (!p->is_for_later)
		return;
	stream_place_leave(p);
	p->is_for_later = 0;
	atomic_fetch_add(get_count(p), 1);
}
