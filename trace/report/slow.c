/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the slow and typical units, and the spans inside of them. slow_others.c finds the spans on
 * other threads.
 */
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
#include "trace/saturate.h"

#define NO_GROUP UINT8_MAX

/* --- units --------------------------------------------------------------------------------- */

/* An open span, in which the next one may lie. */
struct slow_span {
	int64_t end_ns;
	uint32_t name;
	uint32_t node; /* index of the group's node */
	uint64_t unit;
	uint8_t group; /* group of the unit that it is, or lies in; NO_GROUP: none */
	uint8_t side;
};

struct slow_reading {
	struct slow *slow;
	struct slow_others *others;
	struct slow_ties *ties;
	const struct view_track *track; /* the track that is read; NULL: tracks of async spans */
	size_t plane; /* plane of |track| */
	const struct digest *digest;
	uint8_t *groups[2]; /* by name: the first group of spans, and of async spans */
	struct slow_span *stack;
	size_t n_stack;
	size_t n_stack_allocated;
	uint64_t n_units;
	int64_t spent_ns; /* self times were passed to cpu_shares_spend() up to here */
	bool has_cpu;
};

static enum slow_side unit_find_side(const struct slow_group *group, const struct item *item)
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

/* If there is no more room for a node, the time counts as self time of the span around. */
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

/* Begins a unit. A unit inside of another unit is also a span of that one. */
static int begin_unit(struct slow_reading *reading, const struct item *item, struct slow_span *span)
{
	struct slow_group *group = &reading->slow->groups[span->group];
	enum slow_side side = unit_find_side(group, item);

	group->n += item_is_whole(item);
	span->side = side;
	span->unit = ++reading->n_units;
	if (side == SIDE_NONE)
		return 0;
	group->n_units[side]++;
	group->total_ns[side] = add_saturated(group->total_ns[side], item->duration_ns);
	if (slow_others_add(reading->others, span->group, side, item->start_ns,
		    add_saturated(item->start_ns, item->duration_ns)) ||
		slow_ties_add(reading->ties, span->group, side, item, reading->track))
		return -ENOMEM;
	if (group->kind == SLOW_ASYNCS)
		return 0;
	return count_node(group, span, SLOW_NO_NODE, item->name, item->duration_ns);
}

/* --- threads ------------------------------------------------------------------------------- */

/*
 * Counts the time up to |until_ns| as self time of the innermost span, or as time outside of spans.
 */
static void slow_spend(struct slow_reading *reading, int64_t until_ns)
{
	const struct slow_span *top =
		reading->n_stack ? &reading->stack[reading->n_stack - 1] : NULL;

	if (!reading->has_cpu || until_ns <= reading->spent_ns)
		return;
	cpu_shares_spend(reading->slow->cpu, top ? top->name : ROW_OUTERMOST,
		top && top->group != NO_GROUP && top->side == SIDE_SLOW, reading->spent_ns,
		until_ns);
	reading->spent_ns = until_ns;
}

static void pop_until(struct slow_reading *reading, int64_t start_ns)
{
	while (reading->n_stack && reading->stack[reading->n_stack - 1].end_ns <= start_ns) {
		slow_spend(reading, reading->stack[reading->n_stack - 1].end_ns);
		reading->n_stack--;
	}
	slow_spend(reading, start_ns);
}

/* Finds the name's group for the plane that is read. */
static uint8_t find_group(const struct slow_reading *reading, uint32_t name)
{
	uint8_t g = reading->groups[0][name];

	while (g != NO_GROUP && reading->slow->groups[g].plane != SLOW_ALL_PLANES &&
		reading->slow->groups[g].plane != reading->plane)
		g = reading->slow->groups[g].next;
	return g;
}

static bool is_unit(
	const struct slow_reading *reading, const struct item *item, const struct slow_span *around)
{
	uint8_t g = find_group(reading, item->name);

	if (g == NO_GROUP)
		return false;
	if (reading->slow->groups[g].kind == SLOW_STEPS)
		return item->is_step;
	return !around || around->group == NO_GROUP ||
	       reading->slow->groups[around->group].holds_requests;
}

static int place_span(struct slow_reading *reading, const struct item *item,
	const struct slow_span *around, struct slow_span *span)
{
	if (around && around->group != NO_GROUP && around->side != SIDE_NONE) {
		*span = (struct slow_span){
			.unit = around->unit, .group = around->group, .side = around->side};
		if (count_node(&reading->slow->groups[span->group], span, around->node, item->name,
			    item->duration_ns))
			return -ENOMEM;
	} else if (around) {
		span->group = around->group;
	}
	if (!is_unit(reading, item, around))
		return 0;
	span->group = find_group(reading, item->name);
	return begin_unit(reading, item, span);
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

/* True if the thread has steps or cut spans: only then the stats of its events must be read. */
static bool needs_marks(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].count != rows->v[i].n_whole || rows->v[i].n_steps)
			return true;
	return false;
}

/* |known| has the thread's rows; NULL: those of unwanted names may have been dropped. */
static int read_thread(struct slow_reading *reading, const struct view_track *track,
	const struct digest_track *known, struct diag *d)
{
	const struct view *view = reading->digest->view;
	int r;

	reading->n_stack = 0;
	reading->spent_ns = INT64_MIN;
	reading->has_cpu = reading->slow->cpu && cpu_shares_begin(reading->slow->cpu, track);
	slow_others_begin(reading->others, track);
	reading->track = track;
	reading->plane = digest_find_plane(reading->digest, track);
	r = known && !needs_marks(&known->rows)
		    ? cursor_read_times(view, track, read_thread_span, reading, d)
		    : cursor_read(view, track, read_thread_span, reading, d);
	if (r)
		return r;
	pop_until(reading, INT64_MAX);
	if (reading->has_cpu)
		cpu_shares_end(reading->slow->cpu);
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

static int read_tracks(struct slow_reading *reading, struct diag *d)
{
	const struct digest *g = reading->digest;
	size_t n_known = 0;
	int r = 0;

	for (size_t i = 0; i < g->view->n_tracks && r == 0; i++) {
		const struct view_track *track = &g->view->tracks[i];
		const struct digest_track *known = NULL;

		if (n_known < g->n_tracks && g->tracks[n_known].track == track)
			known = &g->tracks[n_known++];
		if (track->kind == TRACK_THREAD && !track->is_derived)
			r = read_thread(reading, track, g->wanted ? NULL : known, d);
	}
	slow_others_begin(reading->others, NULL);
	reading->track = NULL;
	for (size_t i = 0; i < g->view->n_tracks && r == 0; i++)
		if (g->view->tracks[i].kind == TRACK_ASYNC)
			r = cursor_read(g->view, &g->view->tracks[i], read_async_span, reading, d);
	return r;
}

static int map_groups(struct slow_reading *reading)
{
	size_t n_names = (size_t)reading->digest->view->names.n_texts + 1;

	for (size_t i = 0; i < 2; i++) {
		reading->groups[i] = malloc(n_names);
		if (!reading->groups[i])
			return -ENOMEM;
		for (size_t k = 0; k < n_names; k++)
			reading->groups[i][k] = NO_GROUP;
	}
	for (size_t i = 0; i < reading->slow->n_groups; i++) {
		struct slow_group *group = &reading->slow->groups[i];
		uint8_t *first = &reading->groups[group->kind == SLOW_ASYNCS][group->name];

		group->next = *first;
		*first = (uint8_t)i;
	}
	return 0;
}

static bool group_has_node(const struct slow_group *group, uint32_t name)
{
	for (size_t i = 1; i < group->n_nodes; i++)
		if (group->nodes[i].name == name)
			return true;
	return false;
}

/*
 * For an async span all threads are other threads, so the spans with its id are in
 * group->others, too. Drops the others that have the name of a node.
 */
static void drop_own_others(struct slow_group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n_others; i++)
		if (!group_has_node(group, group->others[i].name))
			group->others[n++] = group->others[i];
	group->n_others = n;
}

static int read_units(struct slow *s, const struct digest *g, struct diag *d)
{
	struct slow_reading reading = {.slow = s, .digest = g};
	int r = slow_others_new(s, g, &reading.others);

	if (r == 0)
		r = slow_ties_new(s, g, &reading.ties);
	if (r == 0)
		r = map_groups(&reading);
	if (r == 0)
		r = read_tracks(&reading, d);
	if (r == 0)
		r = slow_others_find(reading.others, d);
	if (r == 0)
		r = slow_ties_find(reading.ties, d);
	for (size_t i = 0; i < s->n_groups; i++)
		if (s->groups[i].kind == SLOW_ASYNCS)
			drop_own_others(&s->groups[i]);
	slow_others_free(reading.others);
	slow_ties_free(reading.ties);
	free(reading.groups[0]);
	free(reading.groups[1]);
	free(reading.stack);
	return r;
}

static void deinit_group(struct slow_group *group)
{
	free(group->nodes);
	free(group->others);
	free(group->flows);
	name_map_deinit(&group->places);
}

/* Drops groups without slow units, or without typical ones to compare with. */
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

static int slow_fill(struct slow *s, struct digest *g, double factor, struct diag *d)
{
	int r = slow_choose_groups(g, s, factor);

	if (r == 0)
		r = cpu_shares_new(g, &s->cpu, d);
	if (r == 0 && (s->n_groups || s->cpu))
		r = read_units(s, g, d);
	if (r)
		return r;
	if (s->cpu)
		cpu_shares_solve(s->cpu);
	drop_empty(s);
	return 0;
}

int slow_make(struct digest *g, double factor, struct slow **out, struct diag *d)
{
	*out = calloc(1, sizeof **out);
	return *out ? slow_fill(*out, g, factor, d) : -ENOMEM;
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

/* --- results ------------------------------------------------------------------------------- */

static double divide_by_count(int64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

double slow_get_mean(const struct slow_group *group, enum slow_side side)
{
	return divide_by_count(group->total_ns[side], group->n_units[side]);
}

uint64_t slow_get_n_taken_apart(const struct slow_group *group, enum slow_side side)
{
	return group->kind == SLOW_ASYNCS ? group->n_examined[side] : group->n_units[side];
}

double slow_get_total(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side)
{
	return divide_by_count(n->total_ns[side], slow_get_n_taken_apart(group, side));
}

double slow_get_self(const struct slow_group *group, const struct slow_node *n, enum slow_side side)
{
	return divide_by_count(n->self_ns[side], slow_get_n_taken_apart(group, side));
}

double slow_get_share(
	const struct slow_group *group, const struct slow_node *n, enum slow_side side)
{
	return divide_by_count((int64_t)n->n_units[side], slow_get_n_taken_apart(group, side));
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

/* Finds the mean processor time of a side's units. */
static bool group_find_cpu(const struct slow *s, const struct slow_group *group,
	enum slow_side side, double *ns, double *error_ns)
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
		!group_find_cpu(s, group, SIDE_SLOW, &cpu_ns, error_ns))
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
