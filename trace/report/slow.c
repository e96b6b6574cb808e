/* SPDX-License-Identifier: Apache-2.0 */
/* Slow units, their choice and what lies inside of them; see slow.h. What ran elsewhere is in slow_others.c. */
#include "trace/report/slow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/cpu_shares.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"
#include "trace/report/slow_others.h"
#include "trace/report/slow_ties.h"
#include "trace/saturate.h"

#define MAX_CANDIDATES 64 /* whose durations are looked into */
#define MAX_ABOVE 20 /* one in so many may be slow; else the slowest hundredth is */
#define MAX_AROUND 64
#define NO_GROUP UINT8_MAX

/* --- which groups -------------------------------------------------------------------------- */

struct candidate {
	enum slow_kind kind;
	struct row *row;
	size_t plane; /* as in slow_group */
	bool holds_requests;
	int64_t limit_ns;
	double lost_ns; /* by the slow ones, together, against the median */
};

struct choice {
	const struct digest *digest;
	struct row **rows; /* of spans, by name; NULL: none */
	uint64_t *n_inside; /* by name: how many spans of one name are right inside, at most */
	uint32_t *n_planes; /* by name: how many programs have steps of it */
	bool *is_program; /* by plane: it has threads of a program */
	struct candidate v[MAX_CANDIDATES]; /* most lost first, as far as the sums tell */
	size_t n;
};

/* Whether the span is there to hold requests only: it is no unit around them. */
static bool is_holder(const struct choice *c, const struct row *row)
{
	if (row->n_steps)
		return false;
	if (row->count < SLOW_MIN_REQUESTS)
		return true;
	return row->count == row->n_tracks &&
	       c->n_inside[row->name] / SLOW_MIN_REQUESTS >= row->count;
}

static bool is_outermost(const struct choice *c, const struct row *row)
{
	for (int i = 0; i < MAX_AROUND; i++) {
		if (row->around == ROW_OUTERMOST)
			return true;
		row = c->rows[row->around];
		/* Nobody wants to hear of its name: what is wanted counts as outermost then. */
		if (!row && c->digest->wanted)
			return true;
		if (!row || !is_holder(c, row))
			return false;
	}
	return false;
}

static void keep_candidate(struct choice *c, struct candidate candidate)
{
	size_t i = c->n;

	while (i > 0 && c->v[i - 1].lost_ns < candidate.lost_ns)
		i--;
	if (i == MAX_CANDIDATES)
		return;
	c->n += c->n < MAX_CANDIDATES;
	for (size_t k = c->n - 1; k > i; k--)
		c->v[k] = c->v[k - 1];
	c->v[i] = candidate;
}

/* At first by the sums: what all took beyond the median, and what the slowest one did. */
static void add_candidate(struct choice *c, enum slow_kind kind, struct row *row, size_t plane)
{
	double beyond_ns = (double)row->whole_ns - (double)row->p50_ns * (double)row->n_whole;
	double longest_ns = (double)row->max_ns - (double)row->p50_ns;

	keep_candidate(c, (struct candidate){
				  .kind = kind,
				  .row = row,
				  .plane = plane,
				  .holds_requests = kind == SLOW_REQUESTS && is_holder(c, row),
				  .lost_ns = fmax(beyond_ns, longest_ns),
			  });
}

static void add_steps_of_planes(struct choice *c, struct digest *g)
{
	for (size_t i = 0; i < g->n_planes; i++) {
		struct rows *steps = &g->planes[i].steps;

		for (size_t k = 0; k < steps->n && c->is_program[i]; k++)
			if (c->n_planes[steps->v[k].name] > 1 &&
				steps->v[k].n_whole >= SLOW_MIN_STEPS)
				add_candidate(c, SLOW_STEPS, &steps->v[k], i);
	}
}

/* Steps of several programs are no steps of one: their durations do not compare. */
static void count_step_planes(struct choice *c, const struct digest *g)
{
	for (size_t i = 0; i < g->n_tracks; i++)
		if (g->tracks[i].track->kind == TRACK_THREAD)
			c->is_program[digest_find_plane(g, g->tracks[i].track)] = true;
	for (size_t i = 0; i < g->n_planes; i++)
		for (size_t k = 0; k < g->planes[i].steps.n && c->is_program[i]; k++)
			c->n_planes[g->planes[i].steps.v[k].name]++;
}

static void add_candidates(struct choice *c, struct digest *g)
{
	struct rows *spans = &g->lists[LIST_SPANS];
	struct rows *asyncs = &g->lists[LIST_ASYNCS];

	for (size_t i = 0; i < spans->n; i++) {
		struct row *row = &spans->v[i];

		if (c->n_planes[row->name] > 1)
			continue;
		if (row->n_steps >= SLOW_MIN_STEPS)
			add_candidate(c, SLOW_STEPS, row, SLOW_ALL_PLANES);
		else if (row->n_whole >= SLOW_MIN_REQUESTS && is_outermost(c, row))
			add_candidate(c, SLOW_REQUESTS, row, SLOW_ALL_PLANES);
	}
	add_steps_of_planes(c, g);
	for (size_t i = 0; i < asyncs->n; i++)
		if (asyncs->v[i].n_whole >= SLOW_MIN_REQUESTS)
			add_candidate(c, SLOW_ASYNCS, &asyncs->v[i], SLOW_ALL_PLANES);
}

/* The value that one in a thousand exceeds, roughly: halfway by factors between two that are known to be around it. */
static int64_t find_permille(const struct row *row)
{
	double low = (double)row->p99_ns + 1;
	double high = (double)row->max_ns;

	for (int i = 0; i < 16 && high > low * 1.05; i++) {
		double middle = sqrt(low * high);

		if (sample_count_above(&row->durations, middle) > row->n_whole / 1000)
			low = middle;
		else
			high = middle;
	}
	return (int64_t)low;
}

/*
 * Where the tail begins: half way, by factors, between the median and the first of p99, p99.9 and the longest that is
 * |factor| times the median. Where more than one in MAX_ABOVE lie beyond that there is no gap between typical and slow ones:
 * then the slowest hundredth is taken. 0: none is slow.
 */
static int64_t find_limit(const struct row *row, double factor)
{
	double p50 = (double)row->p50_ns > 1 ? (double)row->p50_ns : 1;
	double tail = (double)row->p99_ns;
	double limit;
	uint64_t n_most = row->n_whole / MAX_ABOVE > 2 ? row->n_whole / MAX_ABOVE : 2;

	if (tail < factor * p50 && row->n_whole >= 1000 && (double)row->max_ns >= factor * p50)
		tail = (double)find_permille(row);
	if (tail < factor * p50)
		tail = (double)row->max_ns;
	if (tail < factor * p50)
		return 0;
	limit = sqrt(p50 * tail);
	return sample_count_above(&row->durations, limit) > n_most ? row->p99_ns
								   : (int64_t)limit + 1;
}

/* Now by the durations. */
static void weigh_candidates(struct choice *c, double factor)
{
	struct choice weighed = {.n = 0};

	for (size_t i = 0; i < c->n; i++) {
		struct candidate candidate = c->v[i];

		candidate.limit_ns = find_limit(candidate.row, factor);
		if (!candidate.limit_ns)
			continue;
		candidate.lost_ns = sample_sum_excess(
			&candidate.row->durations, candidate.limit_ns, candidate.row->p50_ns);
		keep_candidate(&weighed, candidate);
	}
	for (size_t i = 0; i < weighed.n; i++)
		c->v[i] = weighed.v[i];
	c->n = weighed.n;
}

/*
 * How far a percentile may be off: in buckets it is the middle of one, so that values which are all
 * equal lie a little beside it.
 */
static int64_t find_error(const struct sample *s, int64_t ns)
{
	return s->buckets ? ns / SAMPLE_MAX_ERROR + 1 : 0;
}

static struct slow_group make_group(const struct candidate *c)
{
	struct sample *durations = &c->row->durations;
	int64_t from_ns = sample_percentile(durations, 25);
	int64_t to_ns = sample_percentile(durations, 75);

	return (struct slow_group){
		.kind = c->kind,
		.name = c->row->name,
		.plane = c->plane,
		.holds_requests = c->holds_requests,
		.limit_ns = c->limit_ns,
		.typical_ns = {from_ns - find_error(durations, from_ns),
			add_saturated(to_ns, find_error(durations, to_ns))},
		.p50_ns = c->row->p50_ns,
		.n_expected = {sample_count_above(&c->row->durations, (double)c->limit_ns - 1),
			c->row->n_whole / 2},
	};
}

static int choose_with(struct choice *c, struct digest *g, struct slow *s, double factor)
{
	const struct rows *spans = &g->lists[LIST_SPANS];
	size_t n_names = (size_t)g->view->names.n_texts + 1;

	c->rows = calloc(n_names, sizeof *c->rows);
	c->n_inside = calloc(n_names, sizeof *c->n_inside);
	c->n_planes = calloc(n_names, sizeof *c->n_planes);
	c->is_program = calloc(g->n_planes + 1, sizeof *c->is_program);
	if (!c->rows || !c->n_inside || !c->n_planes || !c->is_program)
		return -ENOMEM;
	count_step_planes(c, g);
	for (size_t i = 0; i < spans->n; i++) {
		struct row *row = &spans->v[i];

		c->rows[row->name] = row;
		if (row->around != ROW_OUTERMOST && c->n_inside[row->around] < row->count)
			c->n_inside[row->around] = row->count;
	}
	add_candidates(c, g);
	weigh_candidates(c, factor);
	for (; s->n_groups < c->n && s->n_groups < SLOW_GROUPS; s->n_groups++)
		s->groups[s->n_groups] = make_group(&c->v[s->n_groups]);
	return 0;
}

static int choose_groups(struct digest *g, struct slow *s, double factor)
{
	struct choice *c = calloc(1, sizeof *c);
	int rc = c ? 0 : -ENOMEM;

	if (rc == 0)
		c->digest = g;
	if (rc == 0)
		rc = choose_with(c, g, s, factor > 0 ? factor : REPORT_SLOW);
	if (c) {
		free(c->rows);
		free(c->n_inside);
		free(c->n_planes);
		free(c->is_program);
	}
	free(c);
	return rc;
}

/* --- their units --------------------------------------------------------------------------- */

/* A span that the current one may lie in. */
struct slow_span {
	int64_t end_ns;
	uint32_t name;
	uint32_t node; /* of the group */
	uint64_t unit;
	uint8_t group; /* of the unit that it is, or lies in; NO_GROUP: none */
	uint8_t side;
};

struct slow_reading {
	struct slow *slow;
	struct slow_others *others;
	struct slow_ties *ties;
	const struct view_track *track; /* that is read; NULL: of async spans */
	size_t plane; /* that it is on */
	const struct digest *digest;
	uint8_t *groups[2]; /* by name: of spans, of async spans; the first one of the name */
	struct slow_span *stack;
	size_t n_stack;
	size_t n_stack_allocated;
	uint64_t n_units;
	int64_t spent_ns; /* processor time is asked for up to here */
	bool has_cpu;
};

static enum slow_side find_side(const struct slow_group *group, const struct item *item)
{
	if (!item_is_whole(item))
		return SIDE_NONE;
	if (item->duration_ns >= group->limit_ns)
		return SIDE_SLOW;
	return item->duration_ns >= group->typical_ns[0] &&
			       item->duration_ns <= group->typical_ns[1]
		       ? SIDE_TYPICAL
		       : SIDE_NONE;
}

/*
 * Finds or adds a node. Beyond the limit there is none, and the time counts as that of the span
 * around.
 */
int64_t slow_group_find_node(struct slow_group *group, uint32_t parent, uint32_t name)
{
	int64_t place;

	if (grow(&group->nodes, &group->n_nodes_allocated, group->n_nodes + 1))
		return -ENOMEM;
	place = name_map_put(&group->places, (uint64_t)parent << 32 | name);
	if (place < 0)
		return -ENOMEM;
	if ((size_t)place >= SLOW_MAX_NODES)
		return SLOW_NO_NODE;
	if ((size_t)place == group->n_nodes)
		group->nodes[group->n_nodes++] =
			(struct slow_node){.name = name, .parent = parent, .last_unit = 0};
	return place;
}

static int count_node(struct slow_group *group, struct slow_span *span, uint32_t parent,
	uint32_t name, int64_t duration_ns)
{
	int64_t place = slow_group_find_node(group, parent, name);
	struct slow_node *n;

	if (place < 0)
		return -ENOMEM;
	if (place == SLOW_NO_NODE) {
		span->side = SIDE_NONE;
		return 0;
	}
	n = &group->nodes[place];
	if (n->last_unit != span->unit)
		n->n_units[span->side]++;
	n->last_unit = span->unit;
	n->n[span->side]++;
	n->total_ns[span->side] = add_saturated(n->total_ns[span->side], duration_ns);
	n->self_ns[span->side] = add_saturated(n->self_ns[span->side], duration_ns);
	if (parent != SLOW_NO_NODE)
		group->nodes[parent].self_ns[span->side] =
			sub_saturated(group->nodes[parent].self_ns[span->side], duration_ns);
	span->node = (uint32_t)place;
	return 0;
}

/* A unit inside of another unit is also a span of that one. */
static int begin_unit(struct slow_reading *r, const struct item *item, struct slow_span *span)
{
	struct slow_group *group = &r->slow->groups[span->group];
	enum slow_side side = find_side(group, item);

	group->n += item_is_whole(item);
	span->side = side;
	span->unit = ++r->n_units;
	if (side == SIDE_NONE)
		return 0;
	group->n_units[side]++;
	group->total_ns[side] = add_saturated(group->total_ns[side], item->duration_ns);
	if (slow_others_add(r->others, span->group, side, item->start_ns,
		    add_saturated(item->start_ns, item->duration_ns)) ||
		slow_ties_add(r->ties, span->group, side, item, r->track))
		return -ENOMEM;
	if (group->kind == SLOW_ASYNCS)
		return 0;
	return count_node(group, span, SLOW_NO_NODE, item->name, item->duration_ns);
}

/* --- threads ------------------------------------------------------------------------------- */

/* The innermost span had the thread up to |until_ns|, or no span had. */
static void spend(struct slow_reading *r, int64_t until_ns)
{
	const struct slow_span *top = r->n_stack ? &r->stack[r->n_stack - 1] : NULL;

	if (!r->has_cpu || until_ns <= r->spent_ns)
		return;
	cpu_shares_spend(r->slow->cpu, top ? top->name : ROW_OUTERMOST,
		top && top->group != NO_GROUP && top->side == SIDE_SLOW, r->spent_ns, until_ns);
	r->spent_ns = until_ns;
}

static void pop_until(struct slow_reading *r, int64_t start_ns)
{
	while (r->n_stack && r->stack[r->n_stack - 1].end_ns <= start_ns) {
		spend(r, r->stack[r->n_stack - 1].end_ns);
		r->n_stack--;
	}
	spend(r, start_ns);
}

/* That of the plane that is read, among those of a name. */
static uint8_t find_group(const struct slow_reading *r, uint32_t name)
{
	uint8_t g = r->groups[0][name];

	while (g != NO_GROUP && r->slow->groups[g].plane != SLOW_ALL_PLANES &&
		r->slow->groups[g].plane != r->plane)
		g = r->slow->groups[g].next;
	return g;
}

static bool is_unit(
	const struct slow_reading *r, const struct item *item, const struct slow_span *around)
{
	uint8_t g = find_group(r, item->name);

	if (g == NO_GROUP)
		return false;
	if (r->slow->groups[g].kind == SLOW_STEPS)
		return item->is_step;
	return !around || around->group == NO_GROUP ||
	       r->slow->groups[around->group].holds_requests;
}

static int place_span(struct slow_reading *r, const struct item *item,
	const struct slow_span *around, struct slow_span *span)
{
	if (around && around->group != NO_GROUP && around->side != SIDE_NONE) {
		*span = (struct slow_span){
			.unit = around->unit, .group = around->group, .side = around->side};
		if (count_node(&r->slow->groups[span->group], span, around->node, item->name,
			    item->duration_ns))
			return -ENOMEM;
	} else if (around) {
		span->group = around->group;
	}
	if (!is_unit(r, item, around))
		return 0;
	span->group = find_group(r, item->name);
	return begin_unit(r, item, span);
}

static int read_thread_span(void *reading, const struct item *item)
{
	struct slow_reading *r = reading;
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);
	struct slow_span span = {.group = NO_GROUP, .side = SIDE_NONE};
	struct slow_span *around;

	if (!item->duration_ns)
		return 0;
	pop_until(r, item->start_ns);
	around = r->n_stack ? &r->stack[r->n_stack - 1] : NULL;
	/* A span that ends later than |around| is not inside of it, but runs beside it. */
	if (around && around->end_ns < end_ns)
		around = NULL;
	if (place_span(r, item, around, &span) ||
		grow(&r->stack, &r->n_stack_allocated, r->n_stack + 1))
		return -ENOMEM;
	span.end_ns = end_ns;
	span.name = item->name;
	r->stack[r->n_stack++] = span;
	return 0;
}

/* Steps, and spans that were cut, can be known by name where all of the name are, or none. */
static bool needs_marks(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].count != rows->v[i].n_whole || rows->v[i].n_steps)
			return true;
	return false;
}

/* |known|: what the first reading found on it; NULL: not known any more. */
static int read_thread(struct slow_reading *r, const struct view_track *track,
	const struct digest_track *known, struct diag *d)
{
	const struct view *view = r->digest->view;
	int rc;

	r->n_stack = 0;
	r->spent_ns = INT64_MIN;
	r->has_cpu = r->slow->cpu && cpu_shares_begin(r->slow->cpu, track);
	slow_others_begin(r->others, track);
	r->track = track;
	r->plane = digest_find_plane(r->digest, track);
	rc = known && !needs_marks(&known->rows)
		     ? cursor_read_times(view, track, read_thread_span, r, d)
		     : cursor_read(view, track, read_thread_span, r, d);
	if (rc)
		return rc;
	pop_until(r, INT64_MAX);
	if (r->has_cpu)
		cpu_shares_end(r->slow->cpu);
	return 0;
}

/* --- async spans --------------------------------------------------------------------------- */

static int read_async_span(void *reading, const struct item *item)
{
	struct slow_reading *r = reading;
	struct slow_span span = {.group = r->groups[1][item->name]};

	return span.group == NO_GROUP ? 0 : begin_unit(r, item, &span);
}

/* --- all tracks ---------------------------------------------------------------------------- */

static int read_tracks(struct slow_reading *r, struct diag *d)
{
	const struct digest *g = r->digest;
	size_t n_known = 0;
	int rc = 0;

	for (size_t i = 0; i < g->view->n_tracks && rc == 0; i++) {
		const struct view_track *track = &g->view->tracks[i];
		const struct digest_track *known = NULL;

		if (n_known < g->n_tracks && g->tracks[n_known].track == track)
			known = &g->tracks[n_known++];
		if (track->kind == TRACK_THREAD && !track->is_derived)
			rc = read_thread(r, track, g->wanted ? NULL : known, d);
	}
	slow_others_begin(r->others, NULL);
	r->track = NULL;
	for (size_t i = 0; i < g->view->n_tracks && rc == 0; i++)
		if (g->view->tracks[i].kind == TRACK_ASYNC)
			rc = cursor_read(g->view, &g->view->tracks[i], read_async_span, r, d);
	return rc;
}

static int map_groups(struct slow_reading *r)
{
	size_t n_names = (size_t)r->digest->view->names.n_texts + 1;

	for (size_t i = 0; i < 2; i++) {
		r->groups[i] = malloc(n_names);
		if (!r->groups[i])
			return -ENOMEM;
		for (size_t k = 0; k < n_names; k++)
			r->groups[i][k] = NO_GROUP;
	}
	for (size_t i = 0; i < r->slow->n_groups; i++) {
		struct slow_group *group = &r->slow->groups[i];
		uint8_t *first = &r->groups[group->kind == SLOW_ASYNCS][group->name];

		group->next = *first;
		*first = (uint8_t)i;
	}
	return 0;
}

static bool has_node(const struct slow_group *group, uint32_t name)
{
	for (size_t i = 1; i < group->n_nodes; i++)
		if (group->nodes[i].name == name)
			return true;
	return false;
}

/* All threads are elsewhere for an async span. Those spans of theirs that it consists of are known now. */
static void drop_own_others(struct slow_group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n_others; i++)
		if (!has_node(group, group->others[i].name))
			group->others[n++] = group->others[i];
	group->n_others = n;
}

static int read_units(struct slow *s, const struct digest *g, struct diag *d)
{
	struct slow_reading r = {.slow = s, .digest = g};
	int rc = slow_others_new(s, g, &r.others);

	if (rc == 0)
		rc = slow_ties_new(s, g, &r.ties);
	if (rc == 0)
		rc = map_groups(&r);
	if (rc == 0)
		rc = read_tracks(&r, d);
	if (rc == 0)
		rc = slow_others_find(r.others, d);
	if (rc == 0)
		rc = slow_ties_find(r.ties, d);
	for (size_t i = 0; i < s->n_groups; i++)
		if (s->groups[i].kind == SLOW_ASYNCS)
			drop_own_others(&s->groups[i]);
	slow_others_free(r.others);
	slow_ties_free(r.ties);
	free(r.groups[0]);
	free(r.groups[1]);
	free(r.stack);
	return rc;
}

static void deinit_group(struct slow_group *group)
{
	free(group->nodes);
	free(group->others);
	free(group->flows);
	name_map_deinit(&group->places);
}

/* Without slow units there is nothing to tell, and without typical ones nothing to compare with. */
static void drop_empty(struct slow *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_groups; i++) {
		if (s->groups[i].n_units[SIDE_SLOW] && s->groups[i].n_units[SIDE_TYPICAL])
			s->groups[n++] = s->groups[i];
		else
			deinit_group(&s->groups[i]);
	}
	s->n_groups = n;
}

static int make(struct slow *s, struct digest *g, double factor, struct diag *d)
{
	int rc = choose_groups(g, s, factor);

	if (rc == 0)
		rc = cpu_shares_new(g, &s->cpu, d);
	if (rc == 0 && (s->n_groups || s->cpu))
		rc = read_units(s, g, d);
	if (rc)
		return rc;
	if (s->cpu)
		cpu_shares_solve(s->cpu);
	drop_empty(s);
	return 0;
}

int slow_make(struct digest *g, double factor, struct slow **out, struct diag *d)
{
	*out = calloc(1, sizeof **out);
	return *out ? make(*out, g, factor, d) : -ENOMEM;
}

struct slow *slow_free(struct slow *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_groups; i++)
		deinit_group(&s->groups[i]);
	cpu_shares_free(s->cpu);
	free(s);
	return NULL;
}

/* --- what they amount to ------------------------------------------------------------------- */

static double divide(int64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

double slow_get_mean(const struct slow_group *group, enum slow_side side)
{
	return divide(group->total_ns[side], group->n_units[side]);
}

uint64_t slow_get_n_taken_apart(const struct slow_group *group, enum slow_side side)
{
	return group->kind == SLOW_ASYNCS ? group->n_looked[side] : group->n_units[side];
}

double slow_get_total(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side)
{
	return divide(n->total_ns[side], slow_get_n_taken_apart(group, side));
}

double slow_get_self(const struct slow_group *group, const struct slow_node *n, enum slow_side side)
{
	return divide(n->self_ns[side], slow_get_n_taken_apart(group, side));
}

double slow_get_share(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side)
{
	return divide((int64_t)n->n_units[side], slow_get_n_taken_apart(group, side));
}

double slow_get_growth(const struct slow_group *group, uint32_t node)
{
	const struct slow_node *n = &group->nodes[node];

	return slow_get_total(group, n, SIDE_SLOW) - slow_get_total(group, n, SIDE_TYPICAL);
}

double slow_get_self_growth(const struct slow_group *group, uint32_t node)
{
	const struct slow_node *n = &group->nodes[node];

	return slow_get_self(group, n, SIDE_SLOW) - slow_get_self(group, n, SIDE_TYPICAL);
}

size_t slow_list_grown(
	const struct slow_group *group, uint32_t parent, uint32_t *nodes, size_t n_most)
{
	size_t n = 0;

	for (uint32_t i = 0; i < group->n_nodes; i++) {
		double growth = slow_get_growth(group, i);
		size_t k = n;

		if (group->nodes[i].parent != parent || growth <= 0)
			continue;
		while (k > 0 && slow_get_growth(group, nodes[k - 1]) < growth)
			k--;
		if (k == n_most)
			continue;
		n += n < n_most;
		for (size_t m = n - 1; m > k; m--)
			nodes[m] = nodes[m - 1];
		nodes[k] = i;
	}
	return n;
}

/* Processor time of a side's units, one by one, in the mean. */
static bool find_cpu(const struct slow *s, const struct slow_group *group, enum slow_side side,
	double *ns, double *error_ns)
{
	struct cpu_part *parts = calloc(group->n_nodes + 1, sizeof *parts);
	bool is_known = parts != NULL;

	for (size_t i = 0; i < group->n_nodes && parts; i++)
		parts[i] = (struct cpu_part){.name = group->nodes[i].name,
			.is_slow = side == SIDE_SLOW,
			.ns = slow_get_self(group, &group->nodes[i], side)};
	is_known = is_known && cpu_shares_find(s->cpu, parts, group->n_nodes, ns, error_ns);
	free(parts);
	return is_known;
}

bool slow_find_wait(
	const struct slow *s, const struct slow_group *group, double *wait_ns, double *error_ns)
{
	double cpu_ns;

	if (!s->cpu || group->kind == SLOW_ASYNCS ||
		!find_cpu(s, group, SIDE_SLOW, &cpu_ns, error_ns))
		return false;
	*wait_ns = fmax(0, slow_get_mean(group, SIDE_SLOW) - cpu_ns);
	return true;
}

bool slow_is_told(const struct slow *s, const struct slow_group *group)
{
	if (group->kind == SLOW_REQUESTS && group->n_nodes <= 1 &&
		cpu_shares_is_wait(s->cpu, group->name))
		return false;
	return group->n_others || group->n_flows || group->n_nodes > 1;
}

int64_t slow_find_step_limit(
	const struct slow *s, size_t plane, const struct row *row, double factor)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		const struct slow_group *group = &s->groups[i];

		if (group->kind == SLOW_STEPS && group->name == row->name &&
			(group->plane == plane || group->plane == SLOW_ALL_PLANES))
			return group->limit_ns;
	}
	return (int64_t)((factor > 0 ? factor : REPORT_SLOW) * (double)row->p50_ns) + 1;
}
