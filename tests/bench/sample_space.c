/* SPDX-License-Identifier: Apache-2.0 */
/* Sample traces; see sample_space.h. */
#include "tests/bench/sample_space.h"

#include <stdint.h>
#include <stdio.h>

#include "trace/model/space.h"

static int add_names(struct plane *plane)
{
	char name[32];

	for (int i = 0; i < SAMPLE_NAMES; i++) {
		int n = snprintf(name, sizeof name, "function_%d", i);

		if (names_intern(&plane->event_names, name, (size_t)n) == NAMES_NONE)
			return -1;
	}
	return 0;
}

/* Adds spans of 0.3 to 20 us, one after the other. Each line gets other spans. */
static int fill_line(struct plane *plane, struct line *line, int n_events, bool with_stats)
{
	uint32_t batch = names_intern(&plane->stat_names, "batch", 5);
	uint32_t size = names_intern(&plane->stat_names, "size", 4);
	int64_t start_ns = 0;

	for (int i = 0; i < n_events; i++) {
		struct trace_stat stats[2] = {{.name = batch, .type = STAT_INT64, .value.i64 = i},
			{.name = size, .type = STAT_INT64, .value.i64 = 4096}};
		struct trace_event event = {.start_ns = start_ns,
			.duration_ns = 300 + (i * INT64_C(7919) + line->id) % 19700,
			.name = (uint32_t)i % SAMPLE_NAMES};

		if (with_stats)
			event.stats = plane_add_stats(plane, stats, 2);
		if (line_add_event(line, &event))
			return -1;
		start_ns += event.duration_ns + 200;
	}
	return 0;
}

static int fill(struct space *space, int n_events, bool with_stats)
{
	struct plane *plane = space_add_plane(space, 0, PLANE_HOST);
	int n = n_events / SAMPLE_LINES;

	if (!plane || add_names(plane))
		return -1;
	for (int i = 0; i < SAMPLE_LINES; i++) {
		struct line *line;
		char name[32];

		snprintf(name, sizeof name, "worker %d", i);
		line = plane_add_line(plane, 1000 + i, name, (size_t)n);
		if (!line || fill_line(plane, line, n, with_stats))
			return -1;
	}
	return 0;
}

int sample_space_new(int n_events, bool with_stats, struct space **out)
{
	if (space_new(out))
		return -1;
	if (fill(*out, n_events, with_stats) == 0)
		return 0;
	*out = space_free(*out);
	return -1;
}
