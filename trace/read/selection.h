/* SPDX-License-Identifier: Apache-2.0 */
/* Which items of a view are wanted. */
#ifndef TRACE_READ_SELECTION_H
#define TRACE_READ_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

struct item;
struct view;
struct view_track;

/* What was asked for; zero (and INT64_MAX for to_ns) is everything. */
struct selection {
	int64_t from_ns; /* items that end before, and those that begin at or after |to_ns|, are left out */
	int64_t to_ns;
	int64_t min_duration_ns; /* of spans */
};

bool selection_has(const struct selection *s, const struct view *view,
	const struct view_track *track, const struct item *item);

#endif
