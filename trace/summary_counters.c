/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a plane: range, mean and last value of each; see summary.h. */
#include "trace/summary.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/space.h"

/* The value of a sample is the first number among its stats. */
static bool get_sample(const struct plane *plane, const struct trace_event *event, double *value)
{
	const struct trace_stat *stat = plane_get_stats(plane, event);

	while (stat && stat->type > STAT_DOUBLE)
		stat = stat_next(stat);
	if (!stat)
		return false;
	if (stat->type == STAT_INT64)
		*value = (double)stat->value.i64;
	else if (stat->type == STAT_UINT64)
		*value = (double)stat->value.u64;
	else
		*value = stat->value.f64;
	return *value - *value == 0; /* finite */
}

static void count_sample(struct summary_counter *c, double value)
{
	c->min = !c->n || value < c->min ? value : c->min;
	c->max = !c->n || value > c->max ? value : c->max;
	c->n++;
	c->mean += value / (double)c->n - c->mean / (double)c->n;
	c->last = value;
}

static void sum_counter_line(struct summary *summary, const struct line *line, uint32_t *slots)
{
	double value;

	for (size_t i = 0; i < line->n_events; i++) {
		uint32_t name = line->events[i].name;

		if (!get_sample(summary->plane, &line->events[i], &value))
			continue;
		if (!slots[name]) {
			summary->counters[summary->n_counters].name = name;
			slots[name] = (uint32_t)++summary->n_counters;
		}
		count_sample(&summary->counters[slots[name] - 1], value);
	}
}

int summary_add_counters(struct summary *summary)
{
	const struct plane *plane = summary->plane;
	size_t n_names = (size_t)plane->event_names.n_texts + 1;
	_cleanup_free_ uint32_t *slots = calloc(n_names, sizeof *slots);

	summary->counters = calloc(n_names, sizeof *summary->counters);
	if (!slots || !summary->counters)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines; i++) {
		if (line_is_counters(&plane->lines[i]))
			sum_counter_line(summary, &plane->lines[i], slots);
	}
	return 0;
}
