/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one track, on each of which spans nest, as trace_processor requires: one for each
 * lane (lanes.h), and more if spans nest deeper than it allows. The first row is described with the
 * track, the others when they are first needed.
 */
#ifndef TRACE_CODEC_PERFETTO_ROWS_H
#define TRACE_CODEC_PERFETTO_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/lanes.h"

struct perfetto;
struct view_track;

/* Open spans in a row; trace_processor drops spans deeper than 512 */
#define PERFETTO_MAX_DEPTH 500

struct perfetto_row {
	uint64_t uuid;
	uint32_t depth; /* open spans */
	uint32_t n_finished; /* open spans that have an end */
	uint32_t below; /* the row for spans that nest too deep for this one; 0: none yet */
	uint32_t above; /* the row above this one; itself: none */
};

/* Rows of all zero bytes are empty. */
struct perfetto_rows {
	struct lanes lanes;
	struct perfetto_row *v;
	size_t n;
	size_t n_allocated;
	uint32_t *of_lanes; /* for each lane, the row of its last span */
	size_t n_lanes;
	size_t n_lanes_allocated;
};

/* Removes all rows, and adds the first row of |track|. 0 or a negative errno. */
int perfetto_rows_begin(
	struct perfetto_rows *r, struct perfetto *w, const struct view_track *track);
void perfetto_rows_deinit(struct perfetto_rows *r);
/* Returns the row of a span, or a negative errno. Spans must come in order (cursor.h). */
int64_t perfetto_rows_place(struct perfetto_rows *r, struct perfetto *w,
	const struct view_track *track, int64_t start_ns, int64_t duration_ns);

/* --- ends of open spans ----------------------------------------------------------------------- */

/*
 * The ends of a track's open spans, in the order of time; of equal ends, the one of the span that
 * began last comes first.
 */

struct perfetto_end {
	int64_t end_ns; /* on the view's time */
	uint64_t order; /* number of the begin */
	uint32_t row; /* index into perfetto_rows.v */
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
