/* SPDX-License-Identifier: Apache-2.0 */
/* The spans of a track that have begun and not ended, which end in the order of time, and those that began last before others. */
#ifndef TRACE_CODEC_PERFETTO_ENDS_H
#define TRACE_CODEC_PERFETTO_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfetto_end {
	int64_t end_ns; /* on the view's time */
	uint64_t order; /* of the begins */
	uint32_t row; /* perfetto_rows.h */
	bool is_unfinished;
};

/* All zero is empty. */
struct perfetto_ends {
	struct perfetto_end *heap; /* the next to end first */
	size_t n;
	size_t n_allocated;
};

int perfetto_ends_add(struct perfetto_ends *e, const struct perfetto_end *end); /* 0 or -ENOMEM */
/* Takes the next one out. There must be one. */
struct perfetto_end perfetto_ends_take(struct perfetto_ends *e);
/* Whether one ends at that time or before. */
static inline bool perfetto_ends_has(const struct perfetto_ends *e, int64_t at_ns)
{
	return e->n && e->heap[0].end_ns <= at_ns;
}

#endif
