/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async spans: the begins and ends of all threads, matched by name and id when the capture is assembled,
 * and the lines that they become. A begin may have arguments, which are the span's.
 *
 * Where marks are missing, nothing is made up: an end that finds no begin is only counted, and so is a begin that
 * finds no end. A begin and an end that lie on both sides of a gap are a span only where no other one can have been between
 * them: no id of that name was used twice, or one thread alone used this id, and what is missing is that thread's oldest marks.
 *
 * Everything is sorted, nothing is hashed: what a hostile target sends costs n log n and no more.
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
	const struct trace_stat *args; /* up to the one that is the last; NULL: none */
	uint32_t name; /* index into the plane's event_names */
	bool is_unfinished; /* cut at the end of the capture */
	bool is_started_before; /* cut at its start */
};

struct asyncs {
	struct async_mark *marks;
	size_t n_marks;
	size_t n_allocated;
	struct trace_stat *args; /* of all marks */
	size_t n_args;
	size_t n_args_allocated;
	uint32_t thread; /* whose marks are added now: a number, not 0; set by who adds */
	uint64_t
		complete_ticks; /* marks with earlier times may be missing, of each thread the oldest; 0: none are */
	struct gaps gaps; /* of any thread marks with these times may be missing */
	uint64_t n_unmatched; /* ends that belong to no begin */
	uint64_t n_beginless; /* ends whose begin may be missing */
	uint64_t n_endless; /* begins whose end may be missing */
};

/* All zero is the empty state. */
void asyncs_deinit(struct asyncs *a);

/* |e|: a RECORD_ASYNC_BEGIN or _END of |name| with the id |id|, and |n| arguments. 0 or -ENOMEM. */
int asyncs_add(struct asyncs *a, const struct entry *e, uint32_t name, uint64_t id,
	const struct trace_stat *args, uint32_t n);

/*
 * Takes what in->carry has, and leaves there what is the next part's. Adds the spans to |plane|: lines of the span's name (async_lines.h). To be
 * called once, behind the threads' lines. 0, -ENOMEM or -ECANCELED (in->cancel).
 */
int asyncs_add_lines(struct asyncs *a, const struct assemble_input *in, struct plane *plane,
	struct stats *stats);

#endif
