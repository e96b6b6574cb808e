/* SPDX-License-Identifier: Apache-2.0 */
/* Usage as counters; see usage_lines.h. */
#include "daemon/pipeline/assembly/usage_lines.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "daemon/pipeline/assembly/counters.h"
#include "daemon/pipeline/usage/usage.h"
#include "trace/model/space.h"

#define PERCENT_OF_NS (100.0 / (double)NS_PER_S)

/* One row per metric. */
static const struct {
	const char *name;
	const char
		*family_name; /* of the process and its descendants together; NULL: there is none */
	bool is_rate; /* growth of a total per second */
	double scale;
} rows[N_USAGE_METRICS] = {
	[USAGE_CPU] = {"process cpu %", "process and children cpu %", 1, PERCENT_OF_NS},
	[USAGE_CPU_WAIT] = {"process cpu wait %", NULL, 1, PERCENT_OF_NS},
	[USAGE_SWITCHES] = {"process context switches/s", NULL, 1, 1},
	[USAGE_THREADS] = {"process threads", "process and children threads", 0, 1},
	[USAGE_RSS] = {"process rss MiB", "process and children rss MiB", 0, 1.0 / (1 << 20)},
	[USAGE_MINOR_FAULTS] = {"process minor faults/s", "process and children minor faults/s", 1,
		1},
	[USAGE_MAJOR_FAULTS] = {"process major faults/s", "process and children major faults/s", 1,
		1},
	[USAGE_READ] = {"process read bytes/s", "process and children read bytes/s", 1, 1},
	[USAGE_WRITTEN] = {"process write bytes/s", "process and children write bytes/s", 1, 1},
	[USAGE_DISK_READ] = {"process disk read bytes/s", "process and children disk read bytes/s",
		1, 1},
	[USAGE_DISK_WRITTEN] = {"process disk write bytes/s",
		"process and children disk write bytes/s", 1, 1},
};

/* The rate between two totals; 0 if a total goes back, which it should not. */
static double find_rate(uint64_t from, uint64_t to, int64_t from_ns, int64_t to_ns)
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
		last = rows[m].scale * find_rate(a->value[m], b->value[m], a->at_ns, b->at_ns);
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

static int draw_process(struct counter_drawing *g, const struct usage *u, bool is_family)
{
	int r = 0;

	for (int m = 0; m < N_USAGE_METRICS && !r; m++) {
		const char *name = is_family ? rows[m].family_name : rows[m].name;

		if (!name)
			continue;
		r = counter_drawing_begin(g, name);
		if (!r)
			r = rows[m].is_rate ? draw_rate(g, u, (enum usage_metric)m)
					    : draw_level(g, u, (enum usage_metric)m);
	}
	return r;
}

static int draw_cpu(struct counter_drawing *g, const char *name, const struct usage_thread *thread)
{
	double last = 0;
	int r = counter_drawing_begin(g, name);

	for (size_t i = 0; i + 1 < thread->n && !r; i++) {
		const struct usage_reading *a = &thread->v[i];

		last = PERCENT_OF_NS * find_rate(a[0].run_ns, a[1].run_ns, a[0].at_ns, a[1].at_ns);
		r = counter_drawing_add(g, a->at_ns, last);
	}
	return r ? r : counter_drawing_add(g, thread->v[thread->n - 1].at_ns, last);
}

static int draw_thread(struct counter_drawing *g, const struct usage_thread *thread)
{
	char name[80];

	snprintf(name, sizeof name, "thread cpu %% %s (%d)", thread->name, (int)thread->tid);
	return draw_cpu(g, name, thread);
}

/* A thread that used no processor time has no line. */
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
		r = draw_process(&g, u, 0);
	if (!r && usage_has_family(u))
		r = draw_process(&g, u->family, 1);
	if (!r)
		r = draw_threads(&g, &u->threads);
	if (!r)
		r = counter_drawing_finish(&g);
	counter_drawing_deinit(&g);
	return r;
}

/* --- descendants --------------------------------------------------------------------------- */

static int draw_rss(struct counter_drawing *g, const struct usage_thread *process)
{
	int r = counter_drawing_begin(g, rows[USAGE_RSS].name);

	for (size_t i = 0; i < process->n && !r; i++)
		if (process->v[i].rss_bytes)
			r = counter_drawing_add(g, process->v[i].at_ns,
				rows[USAGE_RSS].scale * (double)process->v[i].rss_bytes);
	return r;
}

static struct plane *add_descendant_plane(
	const struct usage *u, const struct usage_thread *process, struct space *space)
{
	struct plane *plane;
	char name[80];

	snprintf(name, sizeof name, PLANE_HOST " %s [%d]", process->name, (int)process->tid);
	plane = space_add_plane(space, (int64_t)space->n_planes + 1, name);
	return plane && !plane_set_int(plane, "process_id", process->tid) &&
			       !plane_set_string(plane, "ptap_process_name", process->name) &&
			       !plane_set_uint(plane, "ptap_process_start", process->start_ticks) &&
			       !plane_set_int(plane, "ptap_descendant_of", u->pid)
		       ? plane
		       : NULL;
}

static int add_descendant_lines(const struct usage *u, const struct usage_thread *process,
	int64_t start_ns, int64_t stop_ns, struct space *space)
{
	struct plane *plane = add_descendant_plane(u, process, space);
	struct counter_drawing g;
	int r = plane ? counter_drawing_init(&g, plane, start_ns, stop_ns) : -ENOMEM;

	if (!plane)
		return r;
	if (!r)
		r = draw_cpu(&g, rows[USAGE_CPU].name, process);
	if (!r)
		r = draw_rss(&g, process);
	if (!r)
		r = counter_drawing_finish(&g);
	counter_drawing_deinit(&g);
	return r;
}

int usage_add_descendants(
	const struct usage *u, int64_t start_ns, int64_t stop_ns, struct space *space)
{
	const struct usage_threads *all = &u->children;
	int r = 0;

	for (size_t i = 0; i < all->n && i < USAGE_SHOWN_THREADS && !r; i++)
		if (all->v[i]->n)
			r = add_descendant_lines(u, all->v[i], start_ns, stop_ns, space);
	return r;
}
