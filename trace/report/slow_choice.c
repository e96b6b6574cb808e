/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the names whose slow units are compared with typical ones: those that lost the most time
 * in slow units.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"
#include "trace/report/slow.h"
#include "trace/saturate.h"

#define MAX_CANDIDATES 64 /* candidates whose durations are examined */
/* If more than one unit in MAX_ABOVE would be slow, only the slowest hundredth is. */
#define MAX_ABOVE 20
#define MAX_AROUND 64

struct candidate {
	enum slow_kind kind;
	struct row *row;
	size_t plane; /* the same as in struct slow_group */
	bool holds_requests;
	int64_t limit_ns;
	double lost_ns; /* time that all slow units together took beyond the median */
};

struct group_choice {
	const struct digest *digest;
	struct row **rows; /* rows of spans, by name; NULL: none */
	uint64_t *n_inside; /* by name: span count of the most frequent name directly inside */
	uint32_t *n_planes; /* by name: number of programs that have steps of it */
	bool *is_program; /* by plane: it has threads of a program */
	struct candidate v[MAX_CANDIDATES]; /* sorted by lost time, most first */
	size_t n;
};

/* True if spans of the name only hold requests, and so do not count as spans around them. */
static bool row_holds_requests(const struct group_choice *c, const struct row *row)
{
	if (row->n_steps)
		return false;
	if (row->count < SLOW_MIN_REQUESTS)
		return true;
	return row->count == row->n_tracks &&
	       c->n_inside[row->name] / SLOW_MIN_REQUESTS >= row->count;
}

static bool row_is_outermost(const struct group_choice *c, const struct row *row)
{
	for (int i = 0; i < MAX_AROUND; i++) {
		if (row->around == ROW_OUTERMOST)
			return true;
		row = c->rows[row->around];
		/*
		 * The name of the span around is not selected: then spans of selected names count
		 * as outermost.
		 */
		if (!row && c->digest->wanted)
			return true;
		if (!row || !row_holds_requests(c, row))
			return false;
	}
	return false;
}

static void keep_candidate(struct group_choice *c, struct candidate candidate)
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

/*
 * Adds a candidate. The first estimate of the lost time is by sums: all time beyond the median, or
 * that of the slowest span.
 */
static void add_candidate(
	struct group_choice *c, enum slow_kind kind, struct row *row, size_t plane)
{
	double beyond_ns = (double)row->whole_ns - (double)row->p50_ns * (double)row->n_whole;
	double longest_ns = (double)row->max_ns - (double)row->p50_ns;

	keep_candidate(
		c, (struct candidate){
			   .kind = kind,
			   .row = row,
			   .plane = plane,
			   .holds_requests = kind == SLOW_REQUESTS && row_holds_requests(c, row),
			   .lost_ns = fmax(beyond_ns, longest_ns),
		   });
}

static void add_steps_of_planes(struct group_choice *c, struct digest *g)
{
	for (size_t i = 0; i < g->n_planes; i++) {
		struct rows *steps = &g->planes[i].steps;

		for (size_t k = 0; k < steps->n && c->is_program[i]; k++)
			if (c->n_planes[steps->v[k].name] > 1 &&
				steps->v[k].n_whole >= SLOW_MIN_STEPS)
				add_candidate(c, SLOW_STEPS, &steps->v[k], i);
	}
}

/*
 * Counts the programs that have steps of each name. The durations of different programs cannot be
 * compared.
 */
static void count_step_planes(struct group_choice *c, const struct digest *g)
{
	for (size_t i = 0; i < g->n_tracks; i++)
		if (g->tracks[i].track->kind == TRACK_THREAD)
			c->is_program[digest_find_plane(g, g->tracks[i].track)] = true;
	for (size_t i = 0; i < g->n_planes; i++)
		for (size_t k = 0; k < g->planes[i].steps.n && c->is_program[i]; k++)
			c->n_planes[g->planes[i].steps.v[k].name]++;
}

static void add_candidates(struct group_choice *c, struct digest *g)
{
	struct rows *spans = &g->lists[LIST_SPANS];
	struct rows *asyncs = &g->lists[LIST_ASYNCS];

	for (size_t i = 0; i < spans->n; i++) {
		struct row *row = &spans->v[i];

		if (c->n_planes[row->name] > 1)
			continue;
		if (row->n_steps >= SLOW_MIN_STEPS)
			add_candidate(c, SLOW_STEPS, row, SLOW_ALL_PLANES);
		else if (row->n_whole >= SLOW_MIN_REQUESTS && row_is_outermost(c, row))
			add_candidate(c, SLOW_REQUESTS, row, SLOW_ALL_PLANES);
	}
	add_steps_of_planes(c, g);
	for (size_t i = 0; i < asyncs->n; i++)
		if (asyncs->v[i].n_whole >= SLOW_MIN_REQUESTS)
			add_candidate(c, SLOW_ASYNCS, &asyncs->v[i], SLOW_ALL_PLANES);
}

/* Returns roughly the 99.9th percentile, by bisection on a logarithmic scale. */
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
 * Returns the duration at which the tail begins: the geometric mean of the median and the first of
 * p99, p99.9 and the maximum that is |factor| times the median or more. If more than one unit in
 * MAX_ABOVE is beyond that, there is no gap between typical and slow ones, and the slowest
 * hundredth is taken. 0: none is slow.
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

/* Estimates the lost time again, by the durations. */
static void weigh_candidates(struct group_choice *c, double factor)
{
	struct group_choice weighed = {.n = 0};

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
 * Returns the possible error of a percentile: with buckets the percentile is the middle of a
 * bucket, and the durations in the bucket differ a little from it.
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

static int choose_with(struct group_choice *c, struct digest *g, struct slow *s, double factor)
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

int slow_choose_groups(struct digest *g, struct slow *s, double factor)
{
	struct group_choice *c = calloc(1, sizeof *c);
	int r = c ? 0 : -ENOMEM;

	if (r == 0)
		c->digest = g;
	if (r == 0)
		r = choose_with(c, g, s, factor > 0 ? factor : REPORT_SLOW);
	if (c) {
		free(c->rows);
		free(c->n_inside);
		free(c->n_planes);
		free(c->is_program);
	}
	free(c);
	return r;
}
