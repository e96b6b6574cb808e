/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of a track's open spans, in the order of time; of equal ends, that of the span that
 * began last comes first.
 */
#ifndef TRACE_CODEC_PERFETTO_ENDS_H
#define TRACE_CODEC_PERFETTO_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfetto_end {
	int64_t end_ns; /* on the view's time */
	uint64_t order; /* number of the begin */
	uint32_t row; /* perfetto_rows.h */
	bool is_unfinished;
};

/* A heap of all zero bytes is empty. */
struct perfetto_ends {
	struct perfetto_end *heap; /* the next to end first */
	size_t n;
	size_t n_allocated;
};

int perfetto_ends_add(struct perfetto_ends *e, const struct perfetto_end *end); /* 0 or -ENOMEM */
/* Removes the next end. There must be one. */
struct perfetto_end perfetto_ends_take(struct perfetto_ends *e);
/* True if a span ends at |at_ns| or before. */
static inline bool perfetto_ends_has(const struct perfetto_ends *e, int64_t at_ns)
{
	return e->n && e->heap[0].end_ns <= at_ns;
}

#endif
