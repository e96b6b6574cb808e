/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's counters for a trace; see machine_plane.h. */
#include "daemon/host/machine/machine_plane.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/pipeline/assembly/counters.h"
#include "trace/model/space.h"

#define NAME_BYTES 192
/*
 * The id is above those of a program and its followed children, and below those of grafts
 * (trace/xspace/graft.c).
 */
#define PLANE_ID 4095

struct plane_drawing {
	const struct machine_cut *cut;
	struct plane *plane;
	struct counter_drawing drawing;
	int64_t start_ns; /* CLOCK_MONOTONIC */
	int64_t stop_ns;
	uint64_t first; /* number of the first sample; |last|: of the last one */
	uint64_t last;
};

/*
 * Finds the samples from the last one before the start to the first one after the stop. Returns
 * false if there are none.
 */
static bool find_sample_range(struct plane_drawing *w, const struct history *h)
{
	uint64_t n = history_first(h);

	if (n == h->n || history_time_ns(h, h->n - 1) < w->start_ns ||
		history_time_ns(h, n) > w->stop_ns)
		return false;
	while (n + 1 < h->n && history_time_ns(h, n + 1) <= w->start_ns)
		n++;
	w->first = n;
	while (n + 1 < h->n && history_time_ns(h, n) < w->stop_ns)
		n++;
	w->last = n;
	return true;
}

static bool is_shown(const struct plane_drawing *w, const struct subject *s)
{
	if (!s->n_rows || s->last < w->first || s->first > w->last)
		return false;
	return w->cut->is_wanted ? w->cut->is_wanted(s, w->cut->context) : !s->pid;
}

/* Returns true if the line has a value that is worth showing. */
static bool has_values(const struct plane_drawing *w, const struct subject *s, unsigned row)
{
	bool is_shown_at_0 = !s->name[0] || s->group->rows[row].kind == METRIC_GAUGE;

	for (uint64_t n = w->first; n <= w->last; n++) {
		double value = subject_get(s, row, n);

		if (!isnan(value) && (is_shown_at_0 || value > 0))
			return true;
	}
	return false;
}

static void format_name(const struct subject *s, unsigned row, char *out)
{
	const struct metric *metric = &s->group->rows[row];
	char pid[24] = "";

	if (s->pid)
		snprintf(pid, sizeof pid, " (%d)", (int)s->pid);
	snprintf(out, NAME_BYTES, "%s%s%s%s %s%s", s->group->name, s->name[0] ? " " : "", s->name,
		pid, metric->name, metric_unit_text(metric->unit));
}

static int draw_gauge(
	struct plane_drawing *w, const struct history *h, const struct subject *s, unsigned row)
{
	int r = 0;

	for (uint64_t n = w->first; n <= w->last && !r; n++) {
		double value = subject_get(s, row, n);

		if (!isnan(value))
			r = counter_drawing_add(&w->drawing, history_time_ns(h, n), value);
	}
	return r;
}

/*
 * A rate covers the time since the previous sample, so each value begins there. The last value is
 * repeated at the end of its time.
 */
static int draw_rate(
	struct plane_drawing *w, const struct history *h, const struct subject *s, unsigned row)
{
	uint64_t end = 0;
	int r = 0;

	for (uint64_t n = w->first + 1; n <= w->last && !r; n++) {
		double value = subject_get(s, row, n);

		if (isnan(value))
			continue;
		r = counter_drawing_add(&w->drawing, history_time_ns(h, n - 1), value);
		end = n;
	}
	return r || !end ? r
			 : counter_drawing_add(
				   &w->drawing, history_time_ns(h, end), subject_get(s, row, end));
}

static int draw_row(
	struct plane_drawing *w, const struct history *h, const struct subject *s, unsigned row)
{
	char name[NAME_BYTES];
	int r;

	if (!has_values(w, s, row))
		return 0;
	format_name(s, row, name);
	r = counter_drawing_begin(&w->drawing, name);
	if (r)
		return r;
	return s->group->rows[row].kind == METRIC_RATE ? draw_rate(w, h, s, row)
						       : draw_gauge(w, h, s, row);
}

static int draw_subjects(const struct history *h, void *context)
{
	struct plane_drawing *w = context;
	int r = 0;

	if (!find_sample_range(w, h))
		return 0;
	for (size_t i = 0; i < h->n_subjects && !r; i++)
		for (unsigned row = 0; row < h->v[i]->group->n_drawn && !r; row++)
			if (is_shown(w, h->v[i]))
				r = draw_row(w, h, h->v[i], row);
	return r;
}

int machine_plane(struct machine *m, const struct machine_cut *cut, struct plane **out)
{
	struct plane_drawing w = {
		.cut = cut,
		.plane = plane_new(PLANE_ID, PLANE_MACHINE),
		.start_ns = cut->start_ns,
		.stop_ns = cut->stop_ns,
	};
	int r = w.plane ? counter_drawing_init(&w.drawing, w.plane, w.start_ns, w.stop_ns)
			: -ENOMEM;

	if (!r)
		r = machine_read_behind(m, cut->stop_ns, cut->now_ns, draw_subjects, &w);
	if (!r)
		r = counter_drawing_finish(&w.drawing);
	counter_drawing_deinit(&w.drawing);
	if (r)
		plane_free(w.plane);
	else
		*out = w.plane;
	return r;
}
