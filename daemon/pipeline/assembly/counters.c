/* SPDX-License-Identifier: Apache-2.0 */
/* Counters; see counters.h. */
#include "daemon/pipeline/assembly/counters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/grow.h"
#include "daemon/pipeline/assembly/events.h"
#include "trace/model/space.h"

struct series {
	uint32_t name; /* event name */
	struct events samples;
};

void counters_deinit(struct counter_table *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		events_deinit(&c->series[i].samples);
	free(c->series);
	free(c->series_of_name);
	free(c->stats);
	memset(c, 0, sizeof *c);
}

static int make_room_for_name(struct counter_table *c, uint32_t name)
{
	size_t n = c->n_names;

	if (grow(&c->series_of_name, &c->n_names, (size_t)name + 1))
		return -ENOMEM;
	memset(c->series_of_name + n, 0, (c->n_names - n) * sizeof *c->series_of_name);
	return 0;
}

static struct series *add_series(struct counter_table *c, uint32_t name)
{
	if (grow(&c->series, &c->n_series_allocated, c->n_series + 1))
		return NULL;
	c->series[c->n_series] = (struct series){.name = name};
	c->series_of_name[name] = (uint32_t)c->n_series + 1;
	return &c->series[c->n_series++];
}

/* NULL when memory ran out. */
static struct series *find_series(struct counter_table *c, uint32_t name)
{
	if (make_room_for_name(c, name))
		return NULL;
	return c->series_of_name[name] ? &c->series[c->series_of_name[name] - 1]
				       : add_series(c, name);
}

/* Copies the stats of |event|. *first is their index + 1; 0: it has none. */
static int take_stats(struct counter_table *c, const struct plane *plane,
	const struct trace_event *event, uint32_t *first)
{
	const struct trace_stat *stat = plane_get_stats(plane, event);

	*first = stat ? (uint32_t)c->n_stats + 1 : 0;
	for (; stat; stat = stat_next(stat)) {
		if (c->n_stats >= TRACE_MAX_STATS - 1 ||
			grow(&c->stats, &c->n_stats_allocated, c->n_stats + 1))
			return -ENOMEM;
		c->stats[c->n_stats++] = *stat;
	}
	return 0;
}

int counters_add(
	struct counter_table *c, const struct plane *plane, const struct trace_event *event)
{
	struct series *series = find_series(c, event->name);
	struct trace_event sample = *event;
	uint32_t first;

	if (!series || take_stats(c, plane, event, &first))
		return -ENOMEM;
	sample.stats = first & TRACE_MAX_STATS;
	return events_push(&series->samples, &sample, 0);
}

static size_t count_stats(const struct trace_stat *stat)
{
	size_t n = 1;

	while (!stat->is_last) {
		stat++;
		n++;
	}
	return n;
}

/* Appends |sample| to |line|, with its stats in |plane|. */
static int add_to_line(const struct counter_table *c, const struct trace_event *sample,
	struct plane *plane, struct line *line)
{
	struct trace_event event = *sample;

	if (sample->stats) {
		const struct trace_stat *stats = &c->stats[sample->stats - 1];

		event.stats = plane_add_stats(plane, stats, count_stats(stats));
		if (!event.stats)
			return -ENOMEM;
	}
	line->events[line->n_events++] = event;
	return 0;
}

static int add_samples(const struct counter_table *c, const struct events *samples,
	struct plane *plane, struct line *line)
{
	for (size_t i = 0; i < samples->n; i++)
		if (add_to_line(c, &samples->v[i], plane, line))
			return -ENOMEM;
	line_sort(line);
	return 0;
}

int counters_add_lines(
	const struct counter_table *c, struct plane *plane, const _Atomic int *cancel)
{
	for (size_t i = 0; i < c->n_series; i++) {
		const struct events *samples = &c->series[i].samples;
		/* An id beyond those of threads, and a different one in each call. */
		int64_t id = INT64_MAX - (int64_t)plane->n_lines;
		struct line *line = plane_add_line(plane, id, LINE_COUNTERS, samples->n);

		if (!line || add_samples(c, samples, plane, line))
			return -ENOMEM;
		if (cancel_check(cancel))
			return -ECANCELED;
	}
	return 0;
}

/* --- drawing ------------------------------------------------------------------------------ */

int counter_drawing_init(
	struct counter_drawing *g, struct plane *plane, int64_t start_ns, int64_t stop_ns)
{
	*g = (struct counter_drawing){
		.plane = plane,
		.start_ns = start_ns,
		.length_ns = stop_ns - start_ns,
		.name_value = names_intern(&plane->stat_names, "value", 5),
	};
	return g->name_value == NAMES_NONE ? -ENOMEM : 0;
}

int counter_drawing_begin(struct counter_drawing *g, const char *name)
{
	g->name = names_intern(&g->plane->event_names, name, strlen(name));
	return g->name == NAMES_NONE ? -ENOMEM : 0;
}

/* A sample a moment before the start or after the stop belongs to the recording. */
static int64_t clamp_to_recording(const struct counter_drawing *g, int64_t at_ns)
{
	int64_t since_ns = at_ns - g->start_ns;

	if (since_ns < 0)
		return 0;
	return since_ns < g->length_ns ? since_ns : g->length_ns;
}

int counter_drawing_add(struct counter_drawing *g, int64_t at_ns, double value)
{
	struct trace_stat stat = {
		.name = g->name_value,
		.type = STAT_DOUBLE,
		.value.f64 = round(value * 100) / 100,
	};
	struct trace_event event = {.start_ns = clamp_to_recording(g, at_ns), .name = g->name};

	event.stats = plane_add_stats(g->plane, &stat, 1);
	return event.stats ? counters_add(&g->counters, g->plane, &event) : -ENOMEM;
}

int counter_drawing_finish(struct counter_drawing *g)
{
	return counters_add_lines(&g->counters, g->plane, NULL);
}

void counter_drawing_deinit(struct counter_drawing *g)
{
	counters_deinit(&g->counters);
}
