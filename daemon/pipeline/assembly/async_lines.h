/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that async spans become: sorted by name and start, each span goes to the first line of its name that is free. There are
 * 255 of a name, and 4,096 in all, on which spans follow one another; what overlaps more than that lies on one more line of its name, over
 * each other. So none is ever left out, and a backlog of 5,000 requests is 256 lines.
 */
#ifndef DAEMON_ASYNC_LINES_H
#define DAEMON_ASYNC_LINES_H

#include <stddef.h>
#include <stdint.h>

struct plane;
struct trace_event;

/*
 * Adds the |n| spans, whose names are the plane's (they are put in order) on lines of the span's name. 0, -ENOMEM or -ECANCELED
 * (|cancel|).
 */
int async_lines_add(
	struct plane *plane, struct trace_event *spans, size_t n, const _Atomic int *cancel);

#endif
