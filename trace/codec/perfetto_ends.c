/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap of ends. If spans nest, the last to begin is the first to end, and each operation takes
 * one step.
 */
#include "trace/codec/perfetto_ends.h"

#include <errno.h>

#include "base/grow.h"

static bool end_is_before(const struct perfetto_end *a, const struct perfetto_end *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order > b->order;
}

int perfetto_ends_add(struct perfetto_ends *e, const struct perfetto_end *end)
{
	size_t i = e->n;

	if (grow(&e->heap, &e->n_allocated, e->n + 1))
		return -ENOMEM;
	for (e->n++; i && end_is_before(end, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
		e->heap[i] = e->heap[(i - 1) / 2];
	e->heap[i] = *end;
	return 0;
}

/* Finds the place for |end| after the first end was removed, and moves others out of the way. */
static size_t make_place(struct perfetto_ends *e, const struct perfetto_end *end)
{
	size_t i = 0;
	size_t child;

	while ((child = 2 * i + 1) < e->n) {
		child += child + 1 < e->n && end_is_before(&e->heap[child + 1], &e->heap[child]);
		if (!end_is_before(&e->heap[child], end))
			break;
		e->heap[i] = e->heap[child];
		i = child;
	}
	return i;
}

struct perfetto_end perfetto_ends_take(struct perfetto_ends *e)
{
	struct perfetto_end first = e->heap[0];
	struct perfetto_end last = e->heap[--e->n];

	if (e->n)
		e->heap[make_place(e, &last)] = last;
	return first;
}
