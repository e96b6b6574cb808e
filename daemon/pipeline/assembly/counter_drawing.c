/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing counters; see counter_drawing.h. */
#include "daemon/pipeline/assembly/counter_drawing.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "trace/model/space.h"

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
static int64_t place(const struct counter_drawing *g, int64_t at_ns)
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
		/* Nobody reads more digits. */
		.value.f64 = round(value * 100) / 100,
	};
	struct trace_event event = {.start_ns = place(g, at_ns), .name = g->name};

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
