/* SPDX-License-Identifier: Apache-2.0 */
/* Usage as counters; see usage_lines.h. */
#include "daemon/assembly/usage_lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "daemon/assembly/counter_drawing.h"
#include "daemon/usage/usage.h"

#define PERCENT_OF_NS (100.0 / (double)NS_PER_S)

/* One row per metric. */
static const struct {
	const char *name;
	int is_rate; /* per second, of a total */
	double scale;
} rows[N_USAGE_METRICS] = {
	[USAGE_CPU] = {"process cpu %", 1, PERCENT_OF_NS},
	[USAGE_CPU_WAIT] = {"process cpu wait %", 1, PERCENT_OF_NS},
	[USAGE_SWITCHES] = {"process context switches/s", 1, 1},
	[USAGE_THREADS] = {"process threads", 0, 1},
	[USAGE_RSS] = {"process rss MiB", 0, 1.0 / (1 << 20)},
	[USAGE_MINOR_FAULTS] = {"process minor faults/s", 1, 1},
	[USAGE_MAJOR_FAULTS] = {"process major faults/s", 1, 1},
	[USAGE_READ] = {"process read bytes/s", 1, 1},
	[USAGE_WRITTEN] = {"process write bytes/s", 1, 1},
	[USAGE_DISK_READ] = {"process disk read bytes/s", 1, 1},
	[USAGE_DISK_WRITTEN] = {"process disk write bytes/s", 1, 1},
};

/* From one total to the next; a total that goes back (it should not) counts as none. */
static double rate(uint64_t from, uint64_t to, int64_t from_ns, int64_t to_ns)
{
	if (to <= from || to_ns <= from_ns)
		return 0;
	return (double)(to - from) * (double)NS_PER_S / (double)(to_ns - from_ns);
}

static int draw_rate(struct counter_drawing *g, const struct usage *u, enum usage_metric m)
{
	uint32_t bit = 1u << m;
	double last = NAN;
	int r = 0;

	for (size_t i = 0; i + 1 < u->n_samples && !r; i++) {
		const struct usage_sample *a = &u->samples[i];
		const struct usage_sample *b = a + 1;

		if (!(a->known & b->known & bit))
			continue;
		last = rows[m].scale * rate(a->value[m], b->value[m], a->at_ns, b->at_ns);
		r = counter_drawing_add(g, a->at_ns, last);
	}
	return r || isnan(last) ? r
				: counter_drawing_add(g, u->samples[u->n_samples - 1].at_ns, last);
}

static int draw_level(struct counter_drawing *g, const struct usage *u, enum usage_metric m)
{
	int r = 0;

	for (size_t i = 0; i < u->n_samples && !r; i++)
		if (u->samples[i].known & 1u << m)
			r = counter_drawing_add(g, u->samples[i].at_ns,
				rows[m].scale * (double)u->samples[i].value[m]);
	return r;
}

static int draw_process(struct counter_drawing *g, const struct usage *u)
{
	int r = 0;

	for (int m = 0; m < N_USAGE_METRICS && !r; m++) {
		r = counter_drawing_begin(g, rows[m].name);
		if (!r)
			r = rows[m].is_rate ? draw_rate(g, u, (enum usage_metric)m)
					    : draw_level(g, u, (enum usage_metric)m);
	}
	return r;
}

static int draw_thread(struct counter_drawing *g, const struct usage_thread *thread)
{
	char name[80];
	double last = 0;
	int r;

	snprintf(name, sizeof name, "thread cpu %% %s (%d)", thread->name, (int)thread->tid);
	r = counter_drawing_begin(g, name);
	for (size_t i = 0; i + 1 < thread->n && !r; i++) {
		const struct usage_reading *a = &thread->v[i];

		last = PERCENT_OF_NS * rate(a[0].run_ns, a[1].run_ns, a[0].at_ns, a[1].at_ns);
		r = counter_drawing_add(g, a->at_ns, last);
	}
	return r ? r : counter_drawing_add(g, thread->v[thread->n - 1].at_ns, last);
}

/* A thread that used nothing has no line. */
static int draw_threads(struct counter_drawing *g, const struct usage_threads *t)
{
	int r = 0;

	for (size_t i = 0; i < t->n && i < USAGE_SHOWN_THREADS && !r; i++)
		if (usage_thread_count_ns(t->v[i]))
			r = draw_thread(g, t->v[i]);
	return r;
}

int usage_add_lines(const struct usage *u, int64_t start_ns, int64_t stop_ns, struct plane *plane)
{
	struct counter_drawing g;
	int r = counter_drawing_init(&g, plane, start_ns, stop_ns);

	if (!r)
		r = draw_process(&g, u);
	if (!r)
		r = draw_threads(&g, &u->threads);
	if (!r)
		r = counter_drawing_finish(&g);
	counter_drawing_deinit(&g);
	return r;
}
