/* SPDX-License-Identifier: Apache-2.0 */
/* Counters; see gauges.h. */
#include "trace/report/gauges.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/read/cursor.h"

void gauges_deinit(struct gauges *counters)
{
	free(counters->v);
	name_map_deinit(&counters->places);
	*counters = (struct gauges){.v = NULL};
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
static bool get_value(const struct item *item, double *value)
{
	size_t i = 0;

	while (i < item->n_args && !item_arg_to_double(&item->args[i], value))
		i++;
	return i < item->n_args && isfinite(*value);
}

static size_t find_slot(int64_t ns, int64_t begin_ns, int64_t end_ns)
{
	double at = ((double)ns - (double)begin_ns) / ((double)end_ns - (double)begin_ns);

	if (!(at > 0))
		return 0;
	return at < 1 ? (size_t)(at * COUNTER_SLOTS) : COUNTER_SLOTS - 1;
}

/* Without a sum, which might be beyond what there is. */
static void move_mean(double *mean, double value, uint64_t n)
{
	*mean += value / (double)n - *mean / (double)n;
}

static void count(struct gauge *c, double value, size_t slot)
{
	c->min = !c->n || value < c->min ? value : c->min;
	c->max = !c->n || value > c->max ? value : c->max;
	move_mean(&c->mean, value, ++c->n);
	c->last = value;
	move_mean(&c->slots[slot], value, ++c->n_of_slot[slot]);
}

int gauges_add(struct gauges *counters, const struct item *item, int64_t begin_ns, int64_t end_ns)
{
	struct gauge *c = get_gauge(counters, item->name);
	double value;

	if (!c)
		return -ENOMEM;
	if (get_value(item, &value))
		count(c, value, find_slot(item->start_ns, begin_ns, end_ns));
	return 0;
}

void gauges_keep(struct gauges *counters, const uint8_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < counters->n; i++)
		if (counters->v[i].n && (!wanted || wanted[counters->v[i].name]))
			counters->v[n++] = counters->v[i];
	counters->n = n;
	name_map_deinit(&counters->places);
}
