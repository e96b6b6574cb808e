/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and counts the units of work in two traces. */
#include "trace/report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/model/names.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/stretches.h"
#include "trace/saturate.h"

/* A span of a thread that takes an eighth of the recording or more is no request. */
#define LONG_SHARE 8

enum unit_kind {
	UNIT_STEP,
	UNIT_ASYNC,
	UNIT_OUTERMOST,
	UNIT_KINDS
};

/* The spans of one name that can be units. */
struct pace_name {
	uint64_t n[UNIT_KINDS];
	double total_ns[UNIT_KINDS];
};

/* --- reading units ------------------------------------------------------------------------- */

/* A walk over the tracks of one side that counts possible units. */
struct unit_walk {
	struct pace_side *side;
	enum track_kind track;
	int64_t until_ns; /* the thread has an open step or request until this time */
	/*
	 * Kind of the units called |name|, whose starts are counted; UNIT_KINDS: all possible units
	 * are counted, for each name
	 */
	enum unit_kind kind;
	uint32_t name;
};

static void unit_count(struct unit_walk *w, const struct item *item, enum unit_kind kind)
{
	struct pace_side *s = w->side;

	if (w->kind == UNIT_KINDS) {
		s->names[item->name].n[kind]++;
		s->names[item->name].total_ns[kind] += (double)item->duration_ns;
	} else if (w->kind == kind && w->name == item->name && !item->is_started_before) {
		s->begun[pace_find_moment(s, item->start_ns)]++;
	}
}

static int unit_read(void *walk, const struct item *item)
{
	struct unit_walk *w = walk;
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);
	bool is_outermost = item->start_ns >= w->until_ns;

	if (item->is_step)
		unit_count(w, item, UNIT_STEP);
	else if (w->track == TRACK_ASYNC)
		unit_count(w, item, UNIT_ASYNC);
	else if (w->track != TRACK_THREAD || !item->duration_ns ||
		 (double)item->duration_ns * LONG_SHARE >= w->side->length_ns)
		return 0;
	else if (is_outermost)
		unit_count(w, item, UNIT_OUTERMOST);
	w->until_ns = end_ns > w->until_ns ? end_ns : w->until_ns;
	return 0;
}

static int unit_read_all(struct pace_side *s, enum unit_kind kind, uint32_t name, struct diag *d)
{
	const struct view *view = s->digest->view;
	int r = 0;

	for (size_t i = 0; i < view->n_tracks && r == 0; i++) {
		const struct view_track *track = &view->tracks[i];
		struct unit_walk walk = {s, track->kind, INT64_MIN, kind, name};

		if (track->kind == TRACK_COUNTERS || (track->is_derived && kind != UNIT_STEP))
			continue;
		r = cursor_read(view, track, unit_read, &walk, d);
	}
	return r;
}

/* --- choosing a unit ----------------------------------------------------------------------- */

struct unit_choice {
	enum unit_kind kind;
	uint32_t names[2]; /* the name in each of the views */
	double total_ns;
};

static uint64_t find_fewest(enum unit_kind kind)
{
	return kind == UNIT_STEP ? 1 : STRETCHES_FEWEST;
}

/*
 * Takes the unit if it is better than the best one so far: a step is better than a request, and a
 * longer total is better.
 */
static void consider_unit(const struct pace *p, const uint32_t names[2], enum unit_kind kind,
	uint64_t n_fewest, struct unit_choice *best)
{
	const struct pace_name *a = &p->sides[0].names[names[0]];
	const struct pace_name *b = &p->sides[1].names[names[1]];
	double total_ns = a->total_ns[kind] + b->total_ns[kind];
	bool is_step = kind == UNIT_STEP;
	bool was_step = best->kind == UNIT_STEP;

	if (a->n[kind] < n_fewest || b->n[kind] < n_fewest || is_step < was_step)
		return;
	if (is_step > was_step || total_ns > best->total_ns)
		*best = (struct unit_choice){kind, {names[0], names[1]}, total_ns};
}

/* Chooses a unit; |name| NULL: any. The kind of the result is UNIT_KINDS if there is none. */
static struct unit_choice choose_unit(const struct pace *p, const char *name)
{
	const struct names *names_a = &p->sides[0].digest->view->names;
	const struct names *names_b = &p->sides[1].digest->view->names;
	struct unit_choice best = {.kind = UNIT_KINDS, .total_ns = -1};

	for (uint32_t i = 0; i < names_a->n_texts; i++) {
		const char *text = names_get(names_a, i);
		uint32_t names[2] = {i, names_find(names_b, text)};

		if (names[1] == NAMES_NONE || (name && strcmp(text, name) != 0))
			continue;
		for (int kind = 0; kind < UNIT_KINDS; kind++)
			consider_unit(p, names, (enum unit_kind)kind,
				name ? 1 : find_fewest((enum unit_kind)kind), &best);
	}
	return best;
}

/* --- making -------------------------------------------------------------------------------- */

static int pace_side_survey(struct pace_side *s, const struct digest *g, struct diag *d)
{
	s->digest = g;
	s->begin_ns = g->begin_ns;
	s->length_ns = (double)sub_saturated(g->end_ns, g->begin_ns);
	s->length_ns = s->length_ns > 1 ? s->length_ns : 1;
	s->n_names = g->view->names.n_texts;
	s->names = calloc(s->n_names + 1, sizeof *s->names);
	return s->names ? unit_read_all(s, UNIT_KINDS, 0, d) : -ENOMEM;
}

/* Counts the units that have begun by each moment. */
static int pace_side_count(struct pace_side *s, enum unit_kind kind, uint32_t name, struct diag *d)
{
	int r;

	s->begun = calloc(PACE_MOMENTS, sizeof *s->begun);
	if (!s->begun)
		return -ENOMEM;
	r = unit_read_all(s, kind, name, d);
	for (size_t i = 1; i < PACE_MOMENTS && r == 0; i++)
		s->begun[i] += s->begun[i - 1];
	s->n_units = s->begun[PACE_MOMENTS - 1];
	s->units = s->n_units ? s->n_units : 1;
	return r;
}

static void pace_forget_begun(struct pace *p)
{
	for (int i = 0; i < 2; i++) {
		free(p->sides[i].begun);
		p->sides[i].begun = NULL;
	}
}

static int pace_count(struct pace *p, const struct unit_choice *unit, struct diag *d)
{
	int r = 0;

	p->unit = unit->kind == UNIT_STEP ? PACE_STEP : PACE_REQUEST;
	p->name = names_get(&p->sides[0].digest->view->names, unit->names[0]);
	for (int i = 0; i < 2 && r == 0; i++)
		r = pace_side_count(&p->sides[i], unit->kind, unit->names[i], d);
	if (p->sides[0].n_units < STRETCHES_FEWEST || p->sides[1].n_units < STRETCHES_FEWEST)
		pace_forget_begun(p);
	return r;
}

static int pace_choose(struct pace *p, const char *per, struct diag *d)
{
	bool is_clock = per && (strcmp(per, "second") == 0 || strcmp(per, "trace") == 0);
	struct unit_choice unit = {.kind = UNIT_KINDS};

	if (!is_clock)
		unit = choose_unit(p, per);
	if (unit.kind != UNIT_KINDS)
		return pace_count(p, &unit, d);
	if (per && !is_clock)
		return diag_set(d, -EINVAL,
			"--per: no step, async span or outermost span of both traces is called \"%.64s\"",
			per);
	p->unit = per && strcmp(per, "trace") == 0 ? PACE_TRACE : PACE_SECOND;
	for (int i = 0; i < 2; i++)
		p->sides[i].units = p->unit == PACE_TRACE ? 1 : p->sides[i].length_ns / 1e9;
	return 0;
}

int pace_make(const struct digest *a, const struct digest *b, const char *per, struct pace *out,
	struct diag *d)
{
	int r;

	*out = (struct pace){.name = NULL};
	r = pace_side_survey(&out->sides[0], a, d);
	if (r == 0)
		r = pace_side_survey(&out->sides[1], b, d);
	return r ? r : pace_choose(out, per, d);
}

void pace_deinit(struct pace *p)
{
	pace_forget_begun(p);
	for (int i = 0; i < 2; i++)
		free(p->sides[i].names);
	*p = (struct pace){.name = NULL};
}

/* --- results ------------------------------------------------------------------------------- */

uint32_t pace_find_moment(const struct pace_side *s, int64_t at_ns)
{
	double share = (double)sub_saturated(at_ns, s->begin_ns) / s->length_ns;

	if (share <= 0)
		return 0;
	return share >= 1 ? PACE_MOMENTS - 1 : (uint32_t)(share * PACE_MOMENTS);
}

uint32_t pace_find_work(const struct pace_side *s, int64_t at_ns)
{
	uint32_t moment = pace_find_moment(s, at_ns);

	if (!s->begun)
		return moment;
	return s->begun[moment] ? s->begun[moment] - 1 : 0;
}

uint32_t pace_count_keys(const struct pace_side *s)
{
	return s->begun ? s->n_units : PACE_MOMENTS;
}

bool pace_are_requests(const struct pace_side *s, uint32_t name, uint64_t count)
{
	return s->names[name].n[UNIT_OUTERMOST] == count;
}
