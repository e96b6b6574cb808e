/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one track, on each of which spans nest, as trace_processor wants it: one a lane (lanes.h), and more where spans nest
 * deeper than it allows. The first is described with the track, the others when they are first needed.
 */
#ifndef TRACE_CODEC_PERFETTO_ROWS_H
#define TRACE_CODEC_PERFETTO_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/lanes.h"

struct perfetto;
struct view_track;

#define PERFETTO_MAX_DEPTH 500 /* of spans in a row; trace_processor drops what is below 512 */

struct perfetto_row {
	uint64_t uuid;
	uint32_t depth; /* spans that are open in it */
	uint32_t n_finished; /* of these, those that have an end */
	uint32_t below; /* the row of what nests too deep for this one; 0: none yet */
	uint32_t above; /* the row that this one is below of; itself: none */
};

/* All zero is empty. */
struct perfetto_rows {
	struct lanes lanes;
	struct perfetto_row *v;
	size_t n;
	size_t n_allocated;
	uint32_t *of_lanes; /* for each, the row of the last span */
	size_t n_lanes;
	size_t n_lanes_allocated;
};

/* Begins with those of another track: the first row. 0 or a negative errno. */
int perfetto_rows_begin(
	struct perfetto_rows *r, struct perfetto *w, const struct view_track *track);
void perfetto_rows_deinit(struct perfetto_rows *r);
/* The row of a span; spans come in order (cursor.h). A negative errno. */
int64_t perfetto_rows_place(struct perfetto_rows *r, struct perfetto *w,
	const struct view_track *track, int64_t start_ns, int64_t duration_ns);

#endif
