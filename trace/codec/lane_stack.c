/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the open spans of lanes, and computes the self times of spans. */
#include "trace/codec/lane_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/saturate.h"

void lane_stack_deinit(struct lane_stack *o)
{
	free(o->v);
	*o = (struct lane_stack){NULL, 0, 0};
}

bool lane_stack_close(struct lane_stack *o, int64_t ns, struct lane_span *closed)
{
	if (o->n == 0 || o->v[o->n - 1].end_ns > ns)
		return false;
	*closed = o->v[--o->n];
	return true;
}

int lane_stack_push(struct lane_stack *o, uint32_t id, int64_t start_ns, int64_t duration_ns)
{
	int64_t end_ns = add_saturated(start_ns, duration_ns);

	if (grow(&o->v, &o->n_allocated, o->n + 1))
		return -ENOMEM;
	/* A saturated end must shorten the duration, or a child could be longer than its parent. */
	duration_ns = sub_saturated(end_ns, start_ns);
	if (o->n)
		o->v[o->n - 1].self_ns -= duration_ns;
	o->v[o->n++] = (struct lane_span){id, end_ns, duration_ns};
	return 0;
}

void lane_stacks_deinit(struct lane_stacks *o)
{
	for (size_t i = 0; i < o->n; i++)
		lane_stack_deinit(&o->v[i]);
	free(o->v);
	*o = (struct lane_stacks){NULL, 0, 0};
}

struct lane_stack *lane_stacks_get(struct lane_stacks *o, int64_t lane)
{
	while (o->n <= (size_t)lane) {
		if (grow(&o->v, &o->n_allocated, o->n + 1))
			return NULL;
		o->v[o->n++] = (struct lane_stack){NULL, 0, 0};
	}
	return &o->v[lane];
}
