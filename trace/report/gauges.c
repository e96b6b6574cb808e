/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the samples of counters. */
#include "trace/report/gauges.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/read/cursor.h"

void gauges_init(struct gauges *counters, int64_t begin_ns, int64_t end_ns)
{
	*counters = (struct gauges){.begin_ns = begin_ns, .end_ns = end_ns};
}

void gauges_deinit(struct gauges *counters)
{
	free(counters->v);
	name_map_deinit(&counters->places);
	gauges_init(counters, counters->begin_ns, counters->end_ns);
}

static struct gauge *get_gauge(struct gauges *counters, uint32_t name)
{
	int64_t place;

	if (grow(&counters->v, &counters->n_allocated, counters->n + 1))
		return NULL;
	place = name_map_put(&counters->places, name);
	if (place < 0)
		return NULL;
	if ((size_t)place == counters->n)
		counters->v[counters->n++] = (struct gauge){.name = name};
	return &counters->v[place];
}

/* The value of a sample is the first number among its arguments. */
static bool sample_get_value(const struct item *item, double *value)
{
	size_t i = 0;

	while (i < item->n_args && !item_arg_to_double(&item->args[i], value))
		i++;
	return i < item->n_args && isfinite(*value);
}

/* Updates a weighted mean without a sum, which could overflow. */
static void gauge_move_mean(double *mean, double *weight, double value, double by)
{
	if (!(by > 0))
		return;
	*weight += by;
	*mean += value * (by / *weight) - *mean * (by / *weight);
}

/* Counts the last value, which held until |until_ns|. */
static void gauge_hold(struct gauge *c, const struct gauges *all, int64_t until_ns)
{
	double length = (double)all->end_ns - (double)all->begin_ns;
	double from = fmax((double)c->last_ns - (double)all->begin_ns, 0);
	double until = fmin((double)until_ns - (double)all->begin_ns, length);

	if (!c->n || !(until > from))
		return;
	/* So far it was the mean of samples that held for no time */
	if (!(c->known_ns > 0))
		c->mean = 0;
	gauge_move_mean(&c->mean, &c->known_ns, c->last, until - from);
	for (size_t i = (size_t)(from / length * COUNTER_SLOTS); i < COUNTER_SLOTS; i++) {
		double begin = length * (double)i / COUNTER_SLOTS;
		double end = length * (double)(i + 1) / COUNTER_SLOTS;

		if (begin >= until)
			break;
		gauge_move_mean(&c->slots[i], &c->ns_of_slot[i], c->last,
			fmin(end, until) - fmax(begin, from));
	}
}

static void gauge_add(struct gauge *c, double value)
{
	double n = (double)c->n;

	c->min = !c->n || value < c->min ? value : c->min;
	c->max = !c->n || value > c->max ? value : c->max;
	if (!(c->known_ns > 0))
		gauge_move_mean(&c->mean, &n, value, 1);
	c->n++;
	c->last = value;
}

int gauges_add(struct gauges *counters, const struct item *item, uint64_t track)
{
	struct gauge *c = get_gauge(counters, item->name);
	double value;

	if (!c)
		return -ENOMEM;
	if (!sample_get_value(item, &value))
		return 0;
	gauge_hold(c, counters, c->track == track ? item->start_ns : counters->end_ns);
	gauge_add(c, value);
	c->last_ns = item->start_ns;
	c->track = track;
	return 0;
}

void gauges_finish(struct gauges *counters, const uint8_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < counters->n; i++) {
		gauge_hold(&counters->v[i], counters, counters->end_ns);
		if (counters->v[i].n && (!wanted || wanted[counters->v[i].name]))
			counters->v[n++] = counters->v[i];
	}
	counters->n = n;
	name_map_deinit(&counters->places);
}
