/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap of ends. If spans nest, the last to begin is the first to end, and each operation takes
 * one step.
 */
#include "trace/codec/perfetto_ends.h"

#include <errno.h>

#include "base/grow.h"
#include "base/heap.h"

static bool end_is_before(const void *left, const void *right)
{
	const struct perfetto_end *a = left;
	const struct perfetto_end *b = right;

	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order > b->order;
}

int perfetto_ends_add(struct perfetto_ends *e, const struct perfetto_end *end)
{
	if (grow(&e->heap, &e->n_allocated, e->n + 1))
		return -ENOMEM;
	e->heap[e->n++] = *end;
	heap_sift_up(e->heap, e->n, sizeof *e->heap, end_is_before);
	return 0;
}

struct perfetto_end perfetto_ends_take(struct perfetto_ends *e)
{
	struct perfetto_end first = e->heap[0];

	e->heap[0] = e->heap[--e->n];
	heap_sift_down(e->heap, e->n, sizeof *e->heap, end_is_before);
	return first;
}
