/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async spans: the begins and ends of all threads are matched by name and id when the capture is
 * assembled, and become lines. The arguments of a begin become the span's.
 *
 * Where marks may be missing, no span is made up: an end without a begin is only counted, and so is
 * a begin without an end. A begin before a gap and an end behind it are a span only if no other
 * mark can have been between them. That is so if no id of that name was used twice, or if only one
 * thread used this id and only that thread's oldest marks are missing.
 *
 * All marks are sorted, none are hashed: the marks of a hostile target cost n log n and no more.
 */
#ifndef DAEMON_ASYNCS_H
#define DAEMON_ASYNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/drain/gaps.h"

struct assemble_input;
struct async_mark;
struct entry;
struct plane;
struct stats;
struct trace_stat;

struct async_span {
	uint64_t id;
	const struct trace_stat *args; /* up to the one with is_last; NULL: none */
	uint32_t name; /* index into the plane's event_names */
	bool is_unfinished; /* cut at the end of the capture */
	bool is_started_before; /* cut at the start of the capture */
};

struct asyncs {
	struct async_mark *marks;
	size_t n_marks;
	size_t n_allocated;
	struct trace_stat *args; /* arguments of all marks */
	size_t n_args;
	size_t n_args_allocated;
	/* number of the thread whose marks are added now, not 0; the caller sets it */
	uint32_t thread;
	/* the oldest marks of each thread, before this time, may be missing; 0: none are */
	uint64_t complete_ticks;
	struct gaps gaps; /* times in which marks of any thread may be missing */
	uint64_t n_unmatched; /* ends without a begin, where no begin is missing */
	uint64_t n_beginless; /* ends whose begin may be missing */
	uint64_t n_endless; /* begins whose end may be missing */
};

/* All zero is the empty state. */
void asyncs_deinit(struct asyncs *a);

/*
 * Adds |e|, a RECORD_ASYNC_BEGIN or _END of |name| with the id |id|, and |n| arguments. 0 or
 * -ENOMEM.
 */
int asyncs_add(struct asyncs *a, const struct entry *e, uint32_t name, uint64_t id,
	const struct trace_stat *args, uint32_t n);

/*
 * Takes the marks from in->carry, and leaves the next part's marks in it. Adds the spans to
 * |plane|, on lines of the span's name. Called once, after the threads' lines. 0, -ENOMEM or
 * -ECANCELED (in->cancel).
 */
int asyncs_add_lines(struct asyncs *a, const struct assemble_input *in, struct plane *plane,
	struct stats *stats);

#endif
