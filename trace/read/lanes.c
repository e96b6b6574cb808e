/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places spans on lanes. Spans nest on the first LANES_NESTING lanes; if these are not enough, each
 * further lane holds one span at a time.
 */
#include "trace/read/lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"
#include "trace/saturate.h"

struct lane {
	int64_t *ends; /* of its open spans, the innermost last */
	size_t n;
	size_t n_allocated;
};

struct lane_end {
	int64_t end_ns;
	int64_t lane;
};

void lanes_deinit(struct lanes *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].ends);
	free(l->v);
	free(l->heap);
	*l = (struct lanes){.v = NULL};
}

/* --- lanes that nest ----------------------------------------------------------------------- */

static bool lane_fits(struct lane *lane, int64_t start_ns, int64_t end_ns)
{
	while (lane->n && lane->ends[lane->n - 1] <= start_ns)
		lane->n--;
	return lane->n == 0 || end_ns <= lane->ends[lane->n - 1];
}

static int lane_push(struct lane *lane, int64_t end_ns)
{
	if (grow(&lane->ends, &lane->n_allocated, lane->n + 1))
		return -ENOMEM;
	lane->ends[lane->n++] = end_ns;
	return 0;
}

static struct lane *lanes_add(struct lanes *l)
{
	if (grow(&l->v, &l->n_allocated, l->n + 1))
		return NULL;
	l->v[l->n] = (struct lane){.ends = NULL};
	return &l->v[l->n++];
}

/* --- lanes of one span at a time: a heap of their ends ------------------------------------- */

static bool lane_end_is_before(const void *a, const void *b)
{
	const struct lane_end *left = a;
	const struct lane_end *right = b;

	return left->end_ns < right->end_ns;
}

static int64_t lanes_place_alone(struct lanes *l, int64_t start_ns, int64_t end_ns)
{
	int64_t lane;

	if (l->n_heap && l->heap[0].end_ns <= start_ns) {
		lane = l->heap[0].lane;
		l->heap[0].end_ns = end_ns;
		heap_sift_down(l->heap, l->n_heap, sizeof *l->heap, lane_end_is_before);
		return lane;
	}
	if (grow(&l->heap, &l->n_heap_allocated, l->n_heap + 1))
		return -ENOMEM;
	lane = (int64_t)(LANES_NESTING + l->n_heap);
	l->heap[l->n_heap++] = (struct lane_end){end_ns, lane};
	heap_sift_up(l->heap, l->n_heap, sizeof *l->heap, lane_end_is_before);
	return lane;
}

int64_t lanes_place(struct lanes *l, int64_t start_ns, int64_t duration_ns)
{
	int64_t end_ns = add_saturated(start_ns, duration_ns);
	size_t i = 0;

	while (i < l->n && !lane_fits(&l->v[i], start_ns, end_ns))
		i++;
	if (i == LANES_NESTING)
		return lanes_place_alone(l, start_ns, end_ns);
	if (i == l->n && !lanes_add(l))
		return -ENOMEM;
	return lane_push(&l->v[i], end_ns) ? -ENOMEM : (int64_t)i;
}

/* --- open spans of a lane --------------------------------------------------------------------- */

/* Keeps the open spans of lanes, and computes the self times of spans. */

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
