/* SPDX-License-Identifier: Apache-2.0 */
/* A line of a graft that began before the trace it becomes a part of: its events, written anew. */
#ifndef TRACE_GRAFT_LINE_H
#define TRACE_GRAFT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"

struct cut_event;
struct pb_field;

struct graft_line {
	int (*store)(struct chunks *events, void *context); /* keeps what is there; 0 or an errno */
	void *context;
	uint64_t cut_ps; /* of its events' offsets; 0: they may stay as they are */
	struct cut_event *cut; /* open when the other trace began */
	size_t n_cut;
	size_t n_cut_allocated;
	struct chunks batch;
	uint64_t n_left_out; /* events that had ended by then, of all lines */
};

/* |start_ns|: of what its offsets count from, on the other trace's time. */
void graft_line_begin(struct graft_line *l, int64_t start_ns);
/* Writes |event|, an XEvent, of a line that is cut. 0, -ENOMEM, -EBADMSG, or what |store| says. */
int graft_line_move(struct graft_line *l, const struct pb_field *event);
int graft_line_end(struct graft_line *l);
void graft_line_deinit(struct graft_line *l);

#endif
