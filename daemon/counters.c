/* SPDX-License-Identifier: Apache-2.0 */
/* Counters; see counters.h. */
#include "daemon/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/events.h"
#include "trace/space.h"

struct series {
	uint32_t name; /* event name */
	struct events samples;
};

void counters_deinit(struct counters *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		events_deinit(&c->series[i].samples);
	free(c->series);
	memset(c, 0, sizeof *c);
}

static struct series *find_series(struct counters *c, uint32_t name)
{
	struct series *series;

	for (size_t i = 0; i < c->n_series; i++)
		if (c->series[i].name == name)
			return &c->series[i];
	series = reallocarray(c->series, c->n_series + 1, sizeof *series);
	if (!series)
		return NULL;
	c->series = series;
	series += c->n_series++;
	memset(series, 0, sizeof *series);
	series->name = name;
	return series;
}

int counters_add(struct counters *c, const struct trace_event *event)
{
	struct series *series = find_series(c, event->name);

	return series ? events_push(&series->samples, event, 0) : -ENOMEM;
}

int counters_add_lines(const struct counters *c, struct plane *plane)
{
	for (size_t i = 0; i < c->n_series; i++) {
		const struct events *samples = &c->series[i].samples;
		/* Beyond any thread's, and another for each call. */
		int64_t id = INT64_MAX - (int64_t)plane->n_lines;
		struct line *line = plane_add_line(plane, id, LINE_COUNTERS, samples->n);

		if (!line)
			return -ENOMEM;
		memcpy(line->events, samples->v, samples->n * sizeof *samples->v);
		line->n_events = samples->n;
		line_sort(line);
	}
	return 0;
}
