/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that async spans become: sorted by name and start, each span goes to the first line of its name that is free.
 */
#ifndef DAEMON_ASYNC_LINES_H
#define DAEMON_ASYNC_LINES_H

#include <stddef.h>
#include <stdint.h>

struct plane;
struct trace_event;

/*
 * Adds the |n| spans, whose names are the plane's (they are put in order): lines of the span's name, each with spans that
 * follow one another. *n_crowded grows by those that no line had room for. 0, -ENOMEM or -ECANCELED (|cancel|).
 */
int async_lines_add(struct plane *plane, struct trace_event *spans, size_t n,
	const _Atomic int *cancel, uint64_t *n_crowded);

#endif
