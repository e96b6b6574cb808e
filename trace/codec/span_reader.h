/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the spans of a track, for formats that have nothing but spans. Each span has the lane on
 * which it nests. The items that such a format leaves out are counted.
 */
#ifndef TRACE_CODEC_SPAN_READER_H
#define TRACE_CODEC_SPAN_READER_H

#include <stdint.h>

#include "trace/read/cursor.h"
#include "trace/read/lanes.h"

struct codec_result;
struct diag;
struct view;
struct view_track;

/*
 * The numbers of items that were left out. All are 0 at first. Each reader that has a pointer to
 * this struct adds to them.
 */
struct span_rest {
	uint64_t n_instants;
	uint64_t n_samples;
	uint64_t n_flow_ends;
	uint64_t n_args;
	uint64_t n_derived; /* spans on derived lines, if these are not wanted */
};

struct span_reader {
	struct cursor cursor;
	struct lanes lanes;
	struct span_rest *rest;
	struct item item; /* the span */
	int64_t lane; /* of the span */
};

/*
 * 0 or a negative errno with |d|. Call span_reader_close() in any case. |rest| must outlive the
 * reader.
 */
int span_reader_open(struct span_reader *r, const struct view *view, const struct view_track *track,
	struct span_rest *rest, struct diag *d);
/*
 * Reads the next span into r->item and r->lane. Returns 1, 0 at the end, or a negative errno
 * (cursor.h).
 */
int span_reader_next(struct span_reader *r);
/* Goes back to the first span, and counts in |rest| from then on. */
void span_reader_rewind(struct span_reader *r, struct span_rest *rest);
void span_reader_close(struct span_reader *r);

void span_rest_lose(const struct span_rest *rest, struct codec_result *result);

#endif
