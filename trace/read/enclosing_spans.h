/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the spans of a thread whose CPU samples are read, and tells which spans were open at the
 * time of a sample. Both are in the order of time, so the spans are read once.
 */
#ifndef TRACE_READ_ENCLOSING_SPANS_H
#define TRACE_READ_ENCLOSING_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/cursor.h"

struct diag;
struct view;
struct view_track;

struct enclosing_span {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t name; /* index into the view's names */
	bool is_step;
	int64_t step_num; /* valid if is_step */
};

struct enclosing_spans {
	struct enclosing_span *v; /* the spans that are open, the outermost first */
	size_t n;
	size_t n_allocated;
	struct cursor cursor;
	bool has_cursor; /* the thread has a track with spans */
	bool has_next;
	struct item next; /* the first span that was not open yet */
	/*
	 * NULL, or called when a span was opened, which is then the last of |v|. 0 or a negative
	 * errno
	 */
	int (*opened)(void *context, const struct enclosing_spans *o);
	void *context;
};

/* Returns the track with the spans of a thread with CPU samples; NULL: it has none. */
const struct view_track *view_find_sampled_thread(
	const struct view *view, const struct view_track *samples);

/*
 * |samples| is one of view->samples. 0 or a negative errno with |d|. Call enclosing_spans_end() in
 * any case.
 */
int enclosing_spans_begin(struct enclosing_spans *o, const struct view *view,
	const struct view_track *samples, struct diag *d);
/*
 * Like enclosing_spans_begin(), for a thread's track of spans. NULL: the thread has no spans. Keeps
 * |opened| and |context|, which the caller has set.
 */
int enclosing_spans_begin_on(struct enclosing_spans *o, const struct view *view,
	const struct view_track *thread, struct diag *d);
/* Goes on to |at_ns|, which is not before that of the last call. 0 or a negative errno. */
int enclosing_spans_move(struct enclosing_spans *o, int64_t at_ns);
void enclosing_spans_end(struct enclosing_spans *o);

#endif
