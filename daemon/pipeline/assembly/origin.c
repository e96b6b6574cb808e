/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a trace; see origin.h. */
#include "daemon/pipeline/assembly/origin.h"

#include "trace/model/space.h"

/* Each line is in the order of its starts. */
static int64_t find_start(const struct plane *plane, int64_t start_ns)
{
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		if (line->n_events && line->events[0].start_ns < start_ns)
			start_ns = line->events[0].start_ns;
	}
	return start_ns;
}

static void shift(struct plane *plane, int64_t by_ns)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		for (size_t k = 0; k < plane->lines[i].n_events; k++)
			plane->lines[i].events[k].start_ns -= by_ns;
}

int64_t origin_set(struct space *space, int64_t window_ns)
{
	int64_t start_ns = window_ns;

	for (size_t i = 0; i < space->n_planes; i++)
		start_ns = find_start(space->planes[i], start_ns);
	for (size_t i = 0; start_ns && i < space->n_planes; i++)
		shift(space->planes[i], start_ns);
	return start_ns;
}
