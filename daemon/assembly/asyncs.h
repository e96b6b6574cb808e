/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async spans: the begins and ends of all threads, matched by name and id when the capture is assembled,
 * and the lines that they become. A begin may have arguments, which are the span's.
 *
 * Everything is sorted, nothing is hashed: what a hostile target sends costs n log n and no more.
 */
#ifndef DAEMON_ASYNCS_H
#define DAEMON_ASYNCS_H

#include <stddef.h>
#include <stdint.h>

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
	int is_unfinished; /* cut at the end of the capture */
	int is_started_before; /* cut at its start */
};

struct asyncs {
	struct async_mark *marks;
	size_t n_marks;
	size_t n_allocated;
	struct trace_stat *args; /* of all marks */
	size_t n_args;
	size_t n_args_allocated;
	uint64_t n_unmatched; /* ends that belong to no begin */
	uint64_t n_crowded; /* spans that no line had room for */
};

/* All zero is the empty state. */
void asyncs_deinit(struct asyncs *a);

/* |e|: a RECORD_ASYNC_BEGIN or _END of |name| with the id |id|, and |n| arguments. 0 or -ENOMEM. */
int asyncs_add(struct asyncs *a, const struct entry *e, uint32_t name, uint64_t id,
	const struct trace_stat *args, uint32_t n);

/*
 * Takes what in->carry has, and leaves there what is the next part's. Adds the spans to |plane|: lines of the span's name, each with spans that follow one another. To be
 * called once, behind the threads' lines. 0, -ENOMEM or -ECANCELED (in->cancel).
 */
int asyncs_add_lines(struct asyncs *a, const struct assemble_input *in, struct plane *plane,
	struct stats *stats);

#endif
