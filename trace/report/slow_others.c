/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the time that spans ran together with units. For a span and a side this is the
 * difference of two sums: the time that all units of the side have run up to the span's end, and up
 * to its begin. The sums are kept for each moment at which a unit begins or ends; between two
 * moments they are linear.
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
#include "trace/report/name_map.h"
#include "trace/saturate.h"

#define N_SIDES (SLOW_GROUPS * SLOW_SIDES)
/*
 * Spans of a name are reported if, compared with typical units, MIN_MORE more of them are open
 * while slow units run, and MIN_TIMES times as many.
 */
#define MIN_MORE 0.2
#define MIN_TIMES 2
/* The additional spans must also cover this share of the units' growth. */
#define MIN_OF_GROWTH 0.1
#define MAX_OTHERS 16 /* limit for a group */

/* --- the time of units --------------------------------------------------------------------- */

struct window {
	int64_t start_ns;
	int64_t end_ns;
	size_t side; /* index over the sides of all groups */
	const struct view_track *track; /* NULL: the unit is an async span */
};

struct moment {
	int64_t at_ns;
	int change; /* change of the number of open units */
	size_t side;
};

/* The time that units of each side have run, up to each moment. */
struct meter {
	struct moment *moments; /* in the order of time */
	double (*run_ns)[N_SIDES]; /* sums up to each moment */
	unsigned int (*open)[N_SIDES]; /* open units from each moment on */
	size_t n;
	size_t here; /* number of moments not after the start of the last measured span */
};

static void meter_deinit(struct meter *m)
{
	free(m->moments);
	free(m->run_ns);
	free(m->open);
	*m = (struct meter){.n = 0};
}

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left;
	const struct moment *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

static void meter_sum(struct meter *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (i == 0) {
			memset(m->run_ns[i], 0, sizeof m->run_ns[i]);
			memset(m->open[i], 0, sizeof m->open[i]);
		} else {
			double past_ns =
				(double)m->moments[i].at_ns - (double)m->moments[i - 1].at_ns;

			for (size_t k = 0; k < N_SIDES; k++) {
				m->run_ns[i][k] = m->run_ns[i - 1][k] + past_ns * m->open[i - 1][k];
				m->open[i][k] = m->open[i - 1][k];
			}
		}
		m->open[i][m->moments[i].side] += (unsigned int)m->moments[i].change;
	}
}

static int meter_init(struct meter *m, const struct window *windows, size_t n)
{
	*m = (struct meter){.n = 2 * n};
	if (!n)
		return 0;
	m->moments = calloc(m->n, sizeof *m->moments);
	m->run_ns = calloc(m->n, sizeof *m->run_ns);
	m->open = calloc(m->n, sizeof *m->open);
	if (!m->moments || !m->run_ns || !m->open)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		m->moments[2 * i] = (struct moment){windows[i].start_ns, 1, windows[i].side};
		m->moments[2 * i + 1] = (struct moment){windows[i].end_ns, -1, windows[i].side};
	}
	qsort(m->moments, m->n, sizeof *m->moments, compare_moments);
	meter_sum(m);
	return 0;
}

/*
 * Returns the number of moments that are not after |at_ns|. The search begins at |from|, in steps
 * that double.
 */
static size_t meter_seek(const struct meter *m, size_t from, int64_t at_ns)
{
	size_t step = 1;
	size_t end;

	while (from + step <= m->n && m->moments[from + step - 1].at_ns <= at_ns) {
		from += step;
		step *= 2;
	}
	end = from + step - 1 < m->n ? from + step - 1 : m->n;
	while (from < end) {
		size_t middle = from + (end - from) / 2;

		if (m->moments[middle].at_ns <= at_ns)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

/* Adds |sign| times the sums up to |at_ns|; |n| moments are not after |at_ns|. */
static void meter_add(
	const struct meter *m, size_t n, int64_t at_ns, double sign, double ns[N_SIDES])
{
	double past_ns;

	if (!n)
		return;
	past_ns = (double)at_ns - (double)m->moments[n - 1].at_ns;
	for (size_t k = 0; k < N_SIDES; k++)
		ns[k] += sign * (m->run_ns[n - 1][k] + past_ns * m->open[n - 1][k]);
}

/*
 * Adds |sign| times the time that units ran between |start_ns|, which never decreases between
 * calls, and |end_ns|. False: no unit ran.
 */
static bool meter_measure(
	struct meter *m, int64_t start_ns, int64_t end_ns, double sign, double ns[N_SIDES])
{
	size_t last;

	if (!m->n || end_ns <= m->moments[0].at_ns)
		return false;
	m->here = meter_seek(m, m->here, start_ns);
	if (m->here == m->n)
		return false;
	last = meter_seek(m, m->here, end_ns);
	/* Most spans are short: no unit begins or ends while they run. */
	if (last == m->here) {
		for (size_t k = 0; k < N_SIDES && last; k++)
			ns[k] += sign * ((double)end_ns - (double)start_ns) * m->open[last - 1][k];
		return last > 0;
	}
	meter_add(m, last, end_ns, sign, ns);
	meter_add(m, m->here, start_ns, -sign, ns);
	return true;
}

/* --- spans that ran ------------------------------------------------------------------------ */

struct other {
	uint32_t name;
	/*
	 * Winners of Boyer and Moore's majority vote, weighted by time: right if one has more than
	 * half of the time.
	 */
	uint32_t around;
	const struct view_track *track;
	double around_ns;
	double track_ns;
	double ns[N_SIDES];
};

struct open_other {
	int64_t end_ns;
	uint32_t name;
};

struct slow_others {
	struct slow *slow;
	const struct digest *digest;
	struct window *windows; /* windows of a track are next to each other */
	size_t n_windows;
	size_t n_windows_allocated;
	size_t track_first; /* index of the first window of the track that is read */
	const struct view_track *track;
	uint64_t n_seen[N_SIDES];
	double length_ns[N_SIDES]; /* length of all windows */
	struct meter all;
	struct meter own; /* windows of the track that is read: its spans do not count for them */
	struct other *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
	struct open_other *stack;
	size_t n_stack;
	size_t n_stack_allocated;
};

int slow_others_new(struct slow *s, const struct digest *g, struct slow_others **out)
{
	struct slow_others *o = calloc(1, sizeof *o);

	*out = o;
	if (!o)
		return -ENOMEM;
	o->slow = s;
	o->digest = g;
	return 0;
}

struct slow_others *slow_others_free(struct slow_others *o)
{
	if (!o)
		return NULL;
	free(o->windows);
	meter_deinit(&o->all);
	meter_deinit(&o->own);
	free(o->v);
	free(o->stack);
	name_map_deinit(&o->places);
	free(o);
	return NULL;
}

void slow_others_begin(struct slow_others *o, const struct view_track *track)
{
	o->track = track;
}

int slow_others_add(
	struct slow_others *o, size_t group, enum slow_side side, int64_t start_ns, int64_t end_ns)
{
	size_t k = group * SLOW_SIDES + side;
	uint64_t n_all = o->slow->groups[group].n_expected[side];

	/*
	 * Every n-th unit is taken, so that they are spread over all of the time and all threads.
	 */
	if (o->n_seen[k]++ % (n_all / SLOW_OTHERS_WINDOWS + 1))
		return 0;
	if (grow(&o->windows, &o->n_windows_allocated, o->n_windows + 1))
		return -ENOMEM;
	o->windows[o->n_windows++] = (struct window){start_ns, end_ns, k, o->track};
	o->length_ns[k] += (double)end_ns - (double)start_ns;
	return 0;
}

/* --- reading ------------------------------------------------------------------------------- */

static struct other *get_other(struct slow_others *o, uint32_t name)
{
	int64_t place;

	if (grow(&o->v, &o->n_allocated, o->n + 1))
		return NULL;
	place = name_map_put(&o->places, name);
	if (place < 0)
		return NULL;
	if ((size_t)place == o->n)
		o->v[o->n++] = (struct other){.name = name, .around = ROW_OUTERMOST};
	return &o->v[place];
}

static void other_vote(
	struct other *other, uint32_t around, const struct view_track *track, double ns)
{
	if (other->around_ns <= 0)
		other->around = around;
	other->around_ns += other->around == around ? ns : -ns;
	if (other->track_ns <= 0)
		other->track = track;
	other->track_ns += other->track == track ? ns : -ns;
}

static int count_other(
	struct slow_others *o, uint32_t name, uint32_t around, const double ns[N_SIDES])
{
	struct other *other;
	double slow_ns = 0;
	double all_ns = 0;

	for (size_t k = 0; k < N_SIDES; k++) {
		all_ns += ns[k];
		slow_ns += k % SLOW_SIDES == SIDE_SLOW ? ns[k] : 0;
	}
	if (!(all_ns > 0))
		return 0;
	other = get_other(o, name);
	if (!other)
		return -ENOMEM;
	for (size_t k = 0; k < N_SIDES; k++)
		other->ns[k] += ns[k];
	other_vote(other, around, o->track, slow_ns);
	return 0;
}

/* True if a span around has the same name, and so includes this span's time. */
static bool is_inside_itself(const struct slow_others *o, uint32_t name)
{
	for (size_t i = 0; i < o->n_stack && i < 64; i++)
		if (o->stack[o->n_stack - 1 - i].name == name)
			return true;
	return false;
}

static int read_other(void *others, const struct item *item)
{
	struct slow_others *o = others;
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);
	double ns[N_SIDES] = {0};
	uint32_t around;

	if (!item->duration_ns)
		return 0;
	while (o->n_stack && o->stack[o->n_stack - 1].end_ns <= item->start_ns)
		o->n_stack--;
	around = o->n_stack ? o->stack[o->n_stack - 1].name : ROW_OUTERMOST;
	if (grow(&o->stack, &o->n_stack_allocated, o->n_stack + 1))
		return -ENOMEM;
	if (!is_inside_itself(o, item->name) &&
		meter_measure(&o->all, item->start_ns, end_ns, 1, ns)) {
		meter_measure(&o->own, item->start_ns, end_ns, -1, ns);
		if (count_other(o, item->name, around, ns))
			return -ENOMEM;
	}
	o->stack[o->n_stack++] = (struct open_other){end_ns, item->name};
	return 0;
}

/* Windows are in the order of tracks. */
static int others_begin_track(struct slow_others *o, const struct view_track *track)
{
	size_t first = o->track_first;
	size_t n = 0;

	while (first + n < o->n_windows && o->windows[first + n].track == track)
		n++;
	o->track_first += n;
	o->track = track;
	o->n_stack = 0;
	o->all.here = 0;
	meter_deinit(&o->own);
	return meter_init(&o->own, &o->windows[first], n);
}

static int read_others(struct slow_others *o, struct diag *d)
{
	const struct view *view = o->digest->view;
	int r = 0;

	for (size_t i = 0; i < view->n_tracks && r == 0; i++) {
		const struct view_track *track = &view->tracks[i];

		if ((track->kind != TRACK_THREAD && track->kind != TRACK_STREAM) ||
			track->is_derived)
			continue;
		r = others_begin_track(o, track);
		if (r == 0)
			r = cursor_read_times(view, track, read_other, o, d);
	}
	return r;
}

/* --- reported names ------------------------------------------------------------------------ */

static struct slow_other compare_sides(
	const struct slow_others *o, size_t group, const struct other *other)
{
	struct slow_other out = {
		.name = other->name, .around = other->around, .track = other->track};

	for (size_t side = 0; side < SLOW_SIDES; side++) {
		size_t k = group * SLOW_SIDES + side;

		out.open[side] = o->length_ns[k] > 0 ? other->ns[k] / o->length_ns[k] : 0;
		out.open[side] = out.open[side] > 0 ? out.open[side] : 0;
	}
	return out;
}

static bool other_is_reported(const struct slow_group *group, const struct slow_other *other)
{
	double more = other->open[SIDE_SLOW] - other->open[SIDE_TYPICAL];
	double slow_ns = slow_get_mean(group, SIDE_SLOW);

	return more >= MIN_MORE &&
	       other->open[SIDE_SLOW] >= MIN_TIMES * other->open[SIDE_TYPICAL] &&
	       more * slow_ns >= MIN_OF_GROWTH * (slow_ns - slow_get_mean(group, SIDE_TYPICAL));
}

static double other_get_more(const struct slow_other *other)
{
	return other->open[SIDE_SLOW] - other->open[SIDE_TYPICAL];
}

static void keep_other(struct slow_group *group, const struct slow_other *other)
{
	size_t i = group->n_others;

	while (i > 0 && other_get_more(&group->others[i - 1]) < other_get_more(other))
		i--;
	if (i == MAX_OTHERS)
		return;
	group->n_others += group->n_others < MAX_OTHERS;
	for (size_t k = group->n_others - 1; k > i; k--)
		group->others[k] = group->others[k - 1];
	group->others[i] = *other;
}

static int list_others(const struct slow_others *o, size_t i)
{
	struct slow_group *group = &o->slow->groups[i];

	group->others = calloc(MAX_OTHERS, sizeof *group->others);
	if (!group->others)
		return -ENOMEM;
	for (size_t k = 0; k < o->n; k++) {
		struct slow_other other = compare_sides(o, i, &o->v[k]);

		if (other_is_reported(group, &other))
			keep_other(group, &other);
	}
	return 0;
}

int slow_others_find(struct slow_others *o, struct diag *d)
{
	int r = meter_init(&o->all, o->windows, o->n_windows);

	if (r == 0 && o->n_windows)
		r = read_others(o, d);
	for (size_t i = 0; i < o->slow->n_groups && r == 0; i++)
		r = list_others(o, i);
	return r;
}
