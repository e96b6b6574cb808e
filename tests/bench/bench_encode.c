/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds and bytes per event of the XSpace encoder: plain, and with two integer stats. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/bench/samples.h"
#include "trace/space.h"
#include "trace/xspace.h"

#define N_EVENTS 1000000
#define N_LINES 8
#define N_NAMES 50
#define N_RUNS 5

static int add_names(struct plane *plane)
{
	char name[32];

	for (int i = 0; i < N_NAMES; i++) {
		int n = snprintf(name, sizeof name, "function_%d", i);

		if (names_intern(&plane->event_names, name, (size_t)n) == NAMES_NONE)
			return -1;
	}
	return 0;
}

/* Spans of 0.3 to 20 us, one after the other. */
static int fill_line(struct plane *plane, struct line *line, bool with_stats)
{
	uint32_t batch = names_intern(&plane->stat_names, "batch", 5);
	uint32_t size = names_intern(&plane->stat_names, "size", 4);
	int64_t start_ns = 0;

	for (int i = 0; i < N_EVENTS / N_LINES; i++) {
		struct trace_stat stats[2] = {{.name = batch, .type = STAT_INT64, .value.i64 = i},
			{.name = size, .type = STAT_INT64, .value.i64 = 4096}};
		struct trace_event event = {.start_ns = start_ns,
			.duration_ns = 300 + i * 7919 % 19700,
			.name = (uint32_t)i % N_NAMES};

		if (with_stats)
			event.stats = plane_add_stats(plane, stats, 2);
		if (line_add_event(line, &event))
			return -1;
		start_ns += event.duration_ns + 200;
	}
	return 0;
}

static int fill(struct space *space, bool with_stats)
{
	struct plane *plane = space_add_plane(space, 0, PLANE_HOST);

	if (!plane || add_names(plane))
		return -1;
	for (int i = 0; i < N_LINES; i++) {
		struct line *line = plane_add_line(plane, 1000 + i, "worker", N_EVENTS / N_LINES);

		if (!line || fill_line(plane, line, with_stats))
			return -1;
	}
	return 0;
}

static int measure(const char *what, bool with_stats)
{
	_cleanup_(space_freep) struct space *space = NULL;
	double ns[N_RUNS];
	uint64_t n_bytes = 0;

	if (space_new(&space) || fill(space, with_stats))
		return 1;
	for (int i = 0; i < N_RUNS; i++) {
		_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
		double start = thread_cpu_ns();

		if (xspace_encode(space, &out))
			return 1;
		ns[i] = (thread_cpu_ns() - start) / N_EVENTS;
		n_bytes = out.total_bytes;
	}
	printf("encode %s %.1f ns/event %.1f bytes/event\n", what, median(ns, N_RUNS),
		(double)n_bytes / N_EVENTS);
	return 0;
}

int main(void)
{
	return measure("plain", false) | measure("with 2 stats", true);
}
