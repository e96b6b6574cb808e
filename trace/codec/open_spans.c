/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the open spans of lanes, and computes the self times of spans. */
#include "trace/codec/open_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/saturate.h"

void open_spans_deinit(struct open_spans *o)
{
	free(o->v);
	*o = (struct open_spans){NULL, 0, 0};
}

bool open_spans_close(struct open_spans *o, int64_t ns, struct open_span *closed)
{
	if (o->n == 0 || o->v[o->n - 1].end_ns > ns)
		return false;
	*closed = o->v[--o->n];
	return true;
}

int open_spans_push(struct open_spans *o, uint32_t id, int64_t start_ns, int64_t duration_ns)
{
	int64_t end_ns = add_saturated(start_ns, duration_ns);

	if (grow(&o->v, &o->n_allocated, o->n + 1))
		return -ENOMEM;
	/* A saturated end must shorten the duration, or a child could be longer than its parent. */
	duration_ns = sub_saturated(end_ns, start_ns);
	if (o->n)
		o->v[o->n - 1].self_ns -= duration_ns;
	o->v[o->n++] = (struct open_span){id, end_ns, duration_ns};
	return 0;
}

void open_lanes_deinit(struct open_lanes *o)
{
	for (size_t i = 0; i < o->n; i++)
		open_spans_deinit(&o->v[i]);
	free(o->v);
	*o = (struct open_lanes){NULL, 0, 0};
}

struct open_spans *open_lanes_get(struct open_lanes *o, int64_t lane)
{
	while (o->n <= (size_t)lane) {
		if (grow(&o->v, &o->n_allocated, o->n + 1))
			return NULL;
		o->v[o->n++] = (struct open_spans){NULL, 0, 0};
	}
	return &o->v[lane];
}
