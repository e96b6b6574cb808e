/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the spans and flows that the trace ties to slow and typical units (slow.h), in two readings
 * of all threads. The first reading finds the flows that arrive in units, and the spans that have
 * the id of an async span. A flow mark can give a span its id, and spans inside of that span may
 * come before the mark. So only the second reading finds the spans inside of those with an id; it
 * also finds where the flows left.
 */
#include "trace/report/slow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/saturate.h"

#define NO_UNIT UINT32_MAX
#define MAX_ARRIVALS (1u << 18) /* limit of arrivals, of 48 bytes each, in all units together */
#define MAX_SPANS (1u << 18)
#define MAX_SAME_ID 16 /* limit of units that a search tries, of one id or thread */
#define MAX_FLOWS 8 /* limit of reported flows in a group */
/*
 * A flow is reported if it arrived in at least the share MIN_SHARE of the examined slow units, and
 * its mean arrival there is later than in typical units. The delay must be at least the share
 * MIN_OF_GROWTH of the difference between the mean durations of slow and typical units.
 */
#define MIN_OF_GROWTH 0.1
#define MIN_SHARE 0.2

struct tied_unit {
	int64_t start_ns;
	int64_t end_ns;
	const struct view_track *track; /* NULL: the unit is an async span */
	uint64_t id; /* id of an async span */
	uint8_t group;
	uint8_t side;
};

/* A flow that arrived while a unit ran. */
struct arrival {
	uint64_t flow;
	int64_t ns; /* time since the unit's begin */
	int64_t from_ns; /* duration of the span that it left */
	const struct view_track *track; /* the track that it left; NULL: not found */
	uint32_t unit;
	uint32_t name;
	uint32_t from;
	uint32_t into;
};

/* A span that has the id of an async span. */
struct tied_span {
	const struct view_track *track;
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t name;
	uint32_t unit;
};

struct open_tie {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t name;
	uint32_t unit; /* the unit that it, or a span around it, belongs to; NO_UNIT: none */
	uint32_t node; /* node of the unit's group */
};

struct slow_ties {
	struct slow *slow;
	const struct digest *digest;
	uint64_t n_seen[SLOW_GROUPS][SLOW_SIDES];
	struct tied_unit *units; /* units of a thread are next to each other */
	size_t n_units;
	size_t n_units_allocated;
	uint32_t *by_id; /* indices of async spans, sorted by id and begin */
	size_t n_by_id;
	struct arrival *arrivals;
	size_t n_arrivals;
	size_t n_arrivals_allocated;
	struct tied_span *spans;
	size_t n_spans;
	size_t n_spans_allocated;
	struct name_map counted; /* keys: a unit's index << 32 | the index of one of its nodes */
	/* State of the reading of one track: */
	const struct view_track *track;
	size_t first_unit; /* index of its first unit */
	size_t end_unit;
	size_t next_unit; /* index of the first unit that has not begun */
	struct open_tie *stack;
	size_t n_stack;
	size_t n_stack_allocated;
};

int slow_ties_new(struct slow *s, const struct digest *g, struct slow_ties **out)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		return -ENOMEM;
	(*out)->slow = s;
	(*out)->digest = g;
	return 0;
}

struct slow_ties *slow_ties_free(struct slow_ties *t)
{
	if (!t)
		return NULL;
	free(t->units);
	free(t->by_id);
	free(t->arrivals);
	free(t->spans);
	free(t->stack);
	name_map_deinit(&t->counted);
	free(t);
	return NULL;
}

/* --- units --------------------------------------------------------------------------------- */

/* Finds the argument "id", a number. */
static bool find_id(const struct item *item, uint64_t *id)
{
	for (size_t i = 0; i < item->n_args; i++) {
		const struct item_arg *arg = &item->args[i];

		if ((arg->type != STAT_INT64 && arg->type != STAT_UINT64) ||
			strcmp(arg->key, "id") != 0)
			continue;
		*id = arg->value.u64;
		return true;
	}
	return false;
}

int slow_ties_add(struct slow_ties *t, size_t group, enum slow_side side, const struct item *unit,
	const struct view_track *track)
{
	uint64_t n_all = t->slow->groups[group].n_expected[side];
	struct tied_unit one = {
		.start_ns = unit->start_ns,
		.end_ns = add_saturated(unit->start_ns, unit->duration_ns),
		.track = track,
		.group = (uint8_t)group,
		.side = (uint8_t)side,
	};

	if (t->n_seen[group][side]++ % (n_all / SLOW_TIES_UNITS + 1))
		return 0;
	if (!track && !find_id(unit, &one.id))
		return 0;
	if (grow(&t->units, &t->n_units_allocated, t->n_units + 1))
		return -ENOMEM;
	t->units[t->n_units++] = one;
	t->slow->groups[group].n_examined[side]++;
	return 0;
}

static int compare_ids(const void *left, const void *right, void *ties)
{
	const struct slow_ties *t = ties;
	const struct tied_unit *a = &t->units[*(const uint32_t *)left];
	const struct tied_unit *b = &t->units[*(const uint32_t *)right];

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int sort_by_id(struct slow_ties *t)
{
	t->by_id = calloc(t->n_units + 1, sizeof *t->by_id);
	if (!t->by_id)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_units; i++)
		if (!t->units[i].track)
			t->by_id[t->n_by_id++] = (uint32_t)i;
	qsort_r(t->by_id, t->n_by_id, sizeof *t->by_id, compare_ids, t);
	return 0;
}

/* --- reading a thread ---------------------------------------------------------------------- */

/* In t->units, those of |track| come directly after those of the previous track. */
static void ties_begin_track(struct slow_ties *t, const struct view_track *track)
{
	t->track = track;
	t->n_stack = 0;
	t->first_unit = t->end_unit;
	while (t->end_unit < t->n_units && t->units[t->end_unit].track == track)
		t->end_unit++;
	t->next_unit = t->first_unit;
}

static const struct open_tie *pop_until(struct slow_ties *t, int64_t start_ns)
{
	while (t->n_stack && t->stack[t->n_stack - 1].end_ns <= start_ns)
		t->n_stack--;
	return t->n_stack ? &t->stack[t->n_stack - 1] : NULL;
}

static int push_open_tie(struct slow_ties *t, const struct item *item, uint32_t unit, uint32_t node)
{
	if (grow(&t->stack, &t->n_stack_allocated, t->n_stack + 1))
		return -ENOMEM;
	t->stack[t->n_stack++] = (struct open_tie){item->start_ns,
		add_saturated(item->start_ns, item->duration_ns), item->name, unit, node};
	return 0;
}

static int read_tracks(struct slow_ties *t, cursor_reader *reader, struct diag *d)
{
	const struct view *view = t->digest->view;
	int r = 0;

	t->end_unit = 0;
	for (size_t i = 0; i < view->n_tracks && r == 0; i++) {
		const struct view_track *track = &view->tracks[i];

		if (track->kind != TRACK_THREAD || track->is_derived)
			continue;
		ties_begin_track(t, track);
		r = cursor_read(view, track, reader, t, d);
	}
	return r;
}

/* --- the first reading: arrivals, and spans with an id ------------------------------------- */

/*
 * Returns the index of the unit of the current track that is open at |ns|. If several units are
 * open, this is the one that began last. NO_UNIT: none.
 */
static uint32_t find_unit(struct slow_ties *t, int64_t ns)
{
	while (t->next_unit < t->end_unit && t->units[t->next_unit].start_ns <= ns)
		t->next_unit++;
	for (size_t i = t->next_unit; i > t->first_unit && i + MAX_SAME_ID > t->next_unit; i--)
		if (ns <= t->units[i - 1].end_ns)
			return (uint32_t)(i - 1);
	return NO_UNIT;
}

static int add_arrival(struct slow_ties *t, const struct item *item, const struct open_tie *around)
{
	uint32_t unit = find_unit(t, item->start_ns);

	if (unit == NO_UNIT || t->n_arrivals == MAX_ARRIVALS)
		return 0;
	if (grow(&t->arrivals, &t->n_arrivals_allocated, t->n_arrivals + 1))
		return -ENOMEM;
	t->arrivals[t->n_arrivals++] = (struct arrival){
		.flow = item->flow_in,
		.ns = sub_saturated(item->start_ns, t->units[unit].start_ns),
		.unit = unit,
		.name = item->name,
		.from = ROW_OUTERMOST,
		.into = around ? around->name : ROW_OUTERMOST,
	};
	return 0;
}

/* True if a span belongs to |unit|. A span around the whole unit does not belong to it. */
static bool unit_has_span(const struct tied_unit *unit, int64_t start_ns, int64_t end_ns)
{
	return start_ns < unit->end_ns && end_ns > unit->start_ns &&
	       (start_ns >= unit->start_ns || end_ns <= unit->end_ns);
}

static size_t find_first_of_id(const struct slow_ties *t, uint64_t id)
{
	size_t low = 0;
	size_t high = t->n_by_id;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->units[t->by_id[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int tie_span(struct slow_ties *t, uint64_t id, const struct open_tie *span)
{
	size_t first = find_first_of_id(t, id);

	for (size_t i = first; i < t->n_by_id && i < first + MAX_SAME_ID; i++) {
		const struct tied_unit *unit = &t->units[t->by_id[i]];

		if (unit->id != id)
			return 0;
		if (!unit_has_span(unit, span->start_ns, span->end_ns))
			continue;
		if (t->n_spans == MAX_SPANS)
			return 0;
		if (grow(&t->spans, &t->n_spans_allocated, t->n_spans + 1))
			return -ENOMEM;
		t->spans[t->n_spans++] = (struct tied_span){t->track, span->start_ns,
			span->end_ns - span->start_ns, span->name, t->by_id[i]};
		return 0;
	}
	return 0;
}

static int read_ends(void *ties, const struct item *item)
{
	struct slow_ties *t = ties;
	const struct open_tie *around = pop_until(t, item->start_ns);
	uint64_t id;

	if (item->duration_ns && push_open_tie(t, item, NO_UNIT, SLOW_NO_NODE))
		return -ENOMEM;
	if (item->duration_ns)
		around = &t->stack[t->n_stack - 1];
	if (item->flow_in && t->end_unit > t->first_unit && add_arrival(t, item, around))
		return -ENOMEM;
	if (t->n_by_id && around && (item->duration_ns || item->flow_in || item->flow_out) &&
		find_id(item, &id))
		return tie_span(t, id, around);
	return 0;
}

/* --- the second reading: departures, and spans inside of those with an id ------------------ */

static int compare_arrivals(const void *left, const void *right)
{
	const struct arrival *a = left;
	const struct arrival *b = right;

	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

static int compare_spans(const void *left, const void *right)
{
	const struct tied_span *a = left;
	const struct tied_span *b = right;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns < b->duration_ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/*
 * Sets the departure of all arrivals of the flow that leaves at |item|. If the flow left after
 * the mark of its arrival, but within the unit, the time of the departure counts as the arrival,
 * because the unit waited until then.
 */
static void set_departure(
	struct slow_ties *t, const struct item *item, const struct open_tie *around)
{
	struct arrival key = {.flow = item->flow_out};
	struct arrival *end = t->arrivals + t->n_arrivals;
	struct arrival *a = bsearch(&key, t->arrivals, t->n_arrivals, sizeof key, compare_arrivals);

	while (a && a > t->arrivals && a[-1].flow == key.flow)
		a--;
	for (; a && a < end && a->flow == key.flow; a++) {
		const struct tied_unit *unit = &t->units[a->unit];
		int64_t left_ns = sub_saturated(item->start_ns, unit->start_ns);

		a->track = t->track;
		a->from = around ? around->name : ROW_OUTERMOST;
		a->from_ns = around ? around->end_ns - around->start_ns : 0;
		if (left_ns > a->ns && item->start_ns <= unit->end_ns)
			a->ns = left_ns;
	}
}

static const struct tied_span *find_tied(const struct slow_ties *t, const struct item *item)
{
	const struct tied_span key = {t->track, item->start_ns, item->duration_ns, item->name, 0};

	return t->n_spans ? bsearch(&key, t->spans, t->n_spans, sizeof key, compare_spans) : NULL;
}

/*
 * Adds the part of |item| that lies in unit |index| to the node of the item's name below |parent|.
 * Sets |out| to that node; SLOW_NO_NODE: there are too many nodes, or the item lies outside of the
 * unit. Returns 0 or -ENOMEM.
 */
static int count_span(struct slow_ties *t, const struct item *item, uint32_t index, uint32_t parent,
	uint32_t *out)
{
	const struct tied_unit *unit = &t->units[index];
	struct slow_group *group = &t->slow->groups[unit->group];
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);
	int64_t start_ns = item->start_ns > unit->start_ns ? item->start_ns : unit->start_ns;
	int64_t place = slow_group_find_node(group, parent, item->name);
	size_t n_before = t->counted.table.n;
	struct slow_node *n;

	*out = SLOW_NO_NODE;
	if (place < 0)
		return -ENOMEM;
	end_ns = end_ns < unit->end_ns ? end_ns : unit->end_ns;
	if (place == SLOW_NO_NODE || end_ns < start_ns)
		return 0;
	if (name_map_put(&t->counted, (uint64_t)index << 32 | (uint32_t)place) < 0)
		return -ENOMEM;
	n = &group->nodes[place];
	n->n_units[unit->side] += t->counted.table.n > n_before;
	n->n[unit->side]++;
	n->total_ns[unit->side] = add_saturated(n->total_ns[unit->side], end_ns - start_ns);
	n->self_ns[unit->side] = add_saturated(n->self_ns[unit->side], end_ns - start_ns);
	if (parent != SLOW_NO_NODE)
		group->nodes[parent].self_ns[unit->side] =
			sub_saturated(group->nodes[parent].self_ns[unit->side], end_ns - start_ns);
	*out = (uint32_t)place;
	return 0;
}

static int read_insides(void *ties, const struct item *item)
{
	struct slow_ties *t = ties;
	const struct open_tie *around = pop_until(t, item->start_ns);
	const struct tied_span *tied;
	uint32_t unit = NO_UNIT;
	uint32_t parent = SLOW_NO_NODE;
	uint32_t node = SLOW_NO_NODE;

	if (item->duration_ns) {
		tied = find_tied(t, item);
		if (around && around->unit != NO_UNIT) {
			unit = around->unit;
			parent = around->node;
		} else if (tied) {
			unit = tied->unit;
			parent = 0;
		}
		if (parent != SLOW_NO_NODE && count_span(t, item, unit, parent, &node))
			return -ENOMEM;
		if (push_open_tie(t, item, unit, node))
			return -ENOMEM;
		around = &t->stack[t->n_stack - 1];
	}
	if (item->flow_out)
		set_departure(t, item, around);
	return 0;
}

/* Adds the async spans themselves as the first nodes of groups that have spans with an id. */
static int add_roots(struct slow_ties *t)
{
	bool has_spans[SLOW_GROUPS] = {false};
	uint32_t node;

	for (size_t i = 0; i < t->n_spans; i++)
		has_spans[t->units[t->spans[i].unit].group] = true;
	for (size_t i = 0; i < t->n_by_id; i++) {
		const struct tied_unit *unit = &t->units[t->by_id[i]];
		const struct item item = {
			.name = t->slow->groups[unit->group].name,
			.start_ns = unit->start_ns,
			.duration_ns = unit->end_ns - unit->start_ns,
		};

		if (has_spans[unit->group] &&
			count_span(t, &item, t->by_id[i], SLOW_NO_NODE, &node))
			return -ENOMEM;
	}
	return 0;
}

/* --- reported flows ------------------------------------------------------------------------ */

/* Orders arrivals by group, name and the name of the span that they left, then by unit and time. */
static int compare_kinds(const void *left, const void *right, void *ties)
{
	const struct slow_ties *t = ties;
	const struct arrival *a = left;
	const struct arrival *b = right;
	const struct tied_unit *of_a = &t->units[a->unit];
	const struct tied_unit *of_b = &t->units[b->unit];

	if (of_a->group != of_b->group)
		return of_a->group < of_b->group ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static bool arrivals_are_alike(
	const struct slow_ties *t, const struct arrival *a, const struct arrival *b)
{
	return t->units[a->unit].group == t->units[b->unit].group && a->name == b->name &&
	       a->from == b->from;
}

static double flow_get_delay(const struct slow_flow *f)
{
	return f->arrival_ns[SIDE_SLOW] - f->arrival_ns[SIDE_TYPICAL];
}

static bool flow_is_reported(const struct slow_group *group, const struct slow_flow *f)
{
	double growth_ns = slow_get_mean(group, SIDE_SLOW) - slow_get_mean(group, SIDE_TYPICAL);

	return (double)f->n_units[SIDE_SLOW] >= MIN_SHARE * (double)group->n_examined[SIDE_SLOW] &&
	       f->n_units[SIDE_SLOW] && flow_get_delay(f) >= MIN_OF_GROWTH * growth_ns;
}

static int keep_flow(struct slow_group *group, const struct slow_flow *flow)
{
	size_t i = group->n_flows;

	if (!flow_is_reported(group, flow))
		return 0;
	if (!group->flows)
		group->flows = calloc(MAX_FLOWS, sizeof *group->flows);
	if (!group->flows)
		return -ENOMEM;
	while (i > 0 && flow_get_delay(&group->flows[i - 1]) < flow_get_delay(flow))
		i--;
	if (i == MAX_FLOWS)
		return 0;
	group->n_flows += group->n_flows < MAX_FLOWS;
	for (size_t k = group->n_flows - 1; k > i; k--)
		group->flows[k] = group->flows[k - 1];
	group->flows[i] = *flow;
	return 0;
}

/*
 * Makes a flow of |n| arrivals that are alike. Of a unit's arrivals only the latest counts. The
 * flow's track and |into| come from the slow unit with the latest arrival.
 */
static int sum_up_flow(struct slow_ties *t, const struct arrival *arrivals, size_t n)
{
	struct slow_flow flow = {.name = arrivals->name, .from = arrivals->from};
	int64_t latest_ns = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		const struct arrival *a = &arrivals[i];
		uint8_t side = t->units[a->unit].side;

		if (i + 1 < n && a[1].unit == a->unit)
			continue;
		flow.n_units[side]++;
		flow.arrival_ns[side] += (double)a->ns;
		flow.from_ns[side] += (double)a->from_ns;
		if (side == SIDE_SLOW && a->ns > latest_ns) {
			latest_ns = a->ns;
			flow.track = a->track;
			flow.into = a->into;
		}
	}
	for (int side = 0; side < SLOW_SIDES; side++) {
		if (!flow.n_units[side])
			continue;
		flow.arrival_ns[side] /= (double)flow.n_units[side];
		flow.from_ns[side] /= (double)flow.n_units[side];
	}
	return keep_flow(&t->slow->groups[t->units[arrivals->unit].group], &flow);
}

static int sum_up_flows(struct slow_ties *t)
{
	size_t n = 0;
	size_t end;
	int r = 0;

	for (size_t i = 0; i < t->n_arrivals; i++)
		if (t->arrivals[i].track)
			t->arrivals[n++] = t->arrivals[i];
	t->n_arrivals = n;
	if (n)
		qsort_r(t->arrivals, n, sizeof *t->arrivals, compare_kinds, t);
	for (size_t i = 0; i < n && r == 0; i = end) {
		for (end = i + 1;
			end < n && arrivals_are_alike(t, &t->arrivals[i], &t->arrivals[end]);)
			end++;
		r = sum_up_flow(t, &t->arrivals[i], end - i);
	}
	return r;
}

/* --- the whole search ---------------------------------------------------------------------- */

static bool digest_has_flows(const struct digest *g)
{
	return g->totals.n_flow_marks > 0;
}

int slow_ties_find(struct slow_ties *t, struct diag *d)
{
	int r = sort_by_id(t);

	if (r || (!t->n_by_id && !(t->n_units && digest_has_flows(t->digest))))
		return r;
	r = read_tracks(t, read_ends, d);
	if (r || (!t->n_arrivals && !t->n_spans))
		return r;
	if (t->n_arrivals)
		qsort(t->arrivals, t->n_arrivals, sizeof *t->arrivals, compare_arrivals);
	if (t->n_spans)
		qsort(t->spans, t->n_spans, sizeof *t->spans, compare_spans);
	r = add_roots(t);
	if (r == 0)
		r = read_tracks(t, read_insides, d);
	return r ? r : sum_up_flows(t);
}
