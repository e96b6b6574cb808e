/* SPDX-License-Identifier: Apache-2.0 */
/* Collects and solves the equations; see cpu_shares.h. */
#include "trace/report/cpu_shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/model/names.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/name_map.h"

#define THREAD_PREFIX "thread cpu % "
/*
 * Columns of the equations: OUTSIDE is the time outside of all spans. All others are pairs: a
 * name's time outside of slow units, and its time in them. From OWN on there is a pair for each of
 * OWN_NAMES names; all other names share the pair at REST.
 */
#define OWN_NAMES 31
#define OUTSIDE 0
#define REST 1
#define OWN 3
#define N_COLUMNS (OWN + 2 * OWN_NAMES)
#define NO_TID (-1)
#define SHOWN_THREADS 32
#define MIN_IDLE_NS INT64_C(300000000)
/* The prior distribution of a share. */
#define PRIOR_SHARE 0.5
#define PRIOR_SIGMA 0.5
/* Least error of an equation: samples are taken a little before or after their times. */
#define MIN_SIGMA_S 0.0005
#define N_SWEEPS 400
#define MAX_ERROR 0.25 /* largest error of a share that is reported */
#define WAIT_SHARE 0.25

struct cpu_reading {
	int64_t at_ns;
	double share; /* share of one processor, from here to the next reading */
};

/* The samples of one thread. */
struct cpu_series {
	uint32_t origin;
	struct cpu_reading *v;
	size_t n;
	size_t n_allocated;
};

struct cpu_shares {
	const struct view *view;
	int64_t *tids; /* by name of a counter; NO_TID: it is no counter of a thread */
	uint8_t *columns; /* by name of a span */
	struct cpu_series *series;
	size_t n_series;
	size_t n_series_allocated;
	struct name_map places; /* places of series, by origin and tid */
	uint32_t origin; /* process of the counters that are read */
	/* The current thread, and its current interval: */
	const struct cpu_series *thread;
	/* The current thread used no processor; |thread| is another one, for its intervals only */
	bool is_idle;
	size_t at;
	double spent_s[N_COLUMNS];
	uint8_t touched[N_COLUMNS];
	size_t n_touched;
	/* The normal equations: */
	double squares[N_COLUMNS][N_COLUMNS];
	double products[N_COLUMNS];
	double cpu_squares;
	double total_s[N_COLUMNS];
	uint64_t n_equations;
	bool is_solved;
	double shares[N_COLUMNS];
	double covariance[N_COLUMNS][N_COLUMNS];
};

/* --- samples ------------------------------------------------------------------------------- */

/* Returns the TID in "thread cpu % NAME (TID)". */
static int64_t parse_tid(const char *name)
{
	const char *open = strrchr(name, '(');
	char *end;
	long long tid;

	if (strncmp(name, THREAD_PREFIX, sizeof THREAD_PREFIX - 1) != 0 || !open)
		return NO_TID;
	tid = strtoll(open + 1, &end, 10);
	return end > open + 1 && strcmp(end, ")") == 0 && tid > 0 && tid <= INT32_MAX ? tid
										      : NO_TID;
}

/* Finds the tids in the names of all counters. False: no name has a tid. */
static bool find_tids(struct cpu_shares *c)
{
	bool has_any = false;

	for (uint32_t i = 0; i < c->view->names.n_texts; i++) {
		c->tids[i] = parse_tid(c->view->names.texts[i]);
		has_any = has_any || c->tids[i] != NO_TID;
	}
	return has_any;
}

static struct cpu_series *get_series(struct cpu_shares *c, uint32_t origin, int64_t tid)
{
	int64_t place;

	if (grow(&c->series, &c->n_series_allocated, c->n_series + 1))
		return NULL;
	place = name_map_put(&c->places, (uint64_t)origin << 32 | (uint32_t)tid);
	if (place < 0)
		return NULL;
	if ((size_t)place == c->n_series)
		c->series[c->n_series++] = (struct cpu_series){.origin = origin};
	return &c->series[place];
}

static int read_sample(void *shares, const struct item *item)
{
	struct cpu_shares *c = shares;
	struct cpu_series *series;
	double percent;

	if (c->tids[item->name] == NO_TID || !item->n_args ||
		!item_arg_to_double(&item->args[0], &percent) || !(percent >= 0 && percent < 1e6))
		return 0;
	series = get_series(c, c->origin, c->tids[item->name]);
	if (!series || grow(&series->v, &series->n_allocated, series->n + 1))
		return -ENOMEM;
	if (series->n && series->v[series->n - 1].at_ns >= item->start_ns)
		return 0;
	series->v[series->n++] = (struct cpu_reading){item->start_ns, percent / 100};
	return 0;
}

static int read_samples(struct cpu_shares *c, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < c->view->n_tracks && r == 0; i++) {
		const struct view_track *track = &c->view->tracks[i];

		c->origin = track->origin;
		if (track->kind == TRACK_COUNTERS)
			r = cursor_read(c->view, track, read_sample, c, d);
	}
	return r;
}

/* --- columns ------------------------------------------------------------------------------- */

/* Gives columns of their own to the names with most self time. */
static void give_columns(struct cpu_shares *c, const struct rows *rows)
{
	const struct row *most[OWN_NAMES];
	size_t n = 0;

	memset(c->columns, REST, c->view->names.n_texts);
	for (size_t i = 0; i < rows->n; i++) {
		size_t k = n;

		while (k > 0 && most[k - 1]->self_ns < rows->v[i].self_ns)
			k--;
		if (k == OWN_NAMES)
			continue;
		n += n < OWN_NAMES;
		for (size_t m = n - 1; m > k; m--)
			most[m] = most[m - 1];
		most[k] = &rows->v[i];
	}
	for (size_t i = 0; i < n; i++)
		c->columns[most[i]->name] = (uint8_t)(OWN + 2 * i);
}

static size_t get_column(const struct cpu_shares *c, uint32_t name, bool is_slow)
{
	return name == ROW_OUTERMOST ? OUTSIDE : c->columns[name] + (size_t)is_slow;
}

/* --- making -------------------------------------------------------------------------------- */

static int cpu_shares_fill(
	struct cpu_shares *c, const struct digest *g, bool *has_any, struct diag *d)
{
	size_t n_names = (size_t)c->view->names.n_texts + 1;

	c->tids = calloc(n_names, sizeof *c->tids);
	c->columns = calloc(n_names, 1);
	if (!c->tids || !c->columns)
		return -ENOMEM;
	*has_any = find_tids(c);
	if (!*has_any)
		return 0;
	give_columns(c, &g->lists[LIST_SPANS]);
	return read_samples(c, d);
}

int cpu_shares_new(const struct digest *g, struct cpu_shares **out, struct diag *d)
{
	struct cpu_shares *c = calloc(1, sizeof *c);
	bool has_any = false;
	int r = -ENOMEM;

	if (c) {
		c->view = g->view;
		r = cpu_shares_fill(c, g, &has_any, d);
	}
	*out = r == 0 && has_any ? c : cpu_shares_free(c);
	return r;
}

struct cpu_shares *cpu_shares_free(struct cpu_shares *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_series; i++)
		free(c->series[i].v);
	free(c->series);
	name_map_deinit(&c->places);
	free(c->tids);
	free(c->columns);
	free(c);
	return NULL;
}

/* --- equations ----------------------------------------------------------------------------- */

/*
 * A server records the SHOWN_THREADS busiest threads, except those that used no processor at all.
 * So if it recorded fewer threads, and a thread lived long enough for samples but has none, that
 * thread used no processor. Returns the series of another thread, whose intervals serve for it;
 * NULL: it is not known how much processor time the thread used.
 */
static const struct cpu_series *find_intervals(
	const struct cpu_shares *c, const struct view_track *track)
{
	const struct cpu_series *longest = NULL;
	size_t n = 0;

	if (track->line->end_ns - track->line->first_ns < MIN_IDLE_NS)
		return NULL;
	for (size_t i = 0; i < c->n_series; i++) {
		if (c->series[i].origin != track->origin || !c->series[i].n)
			continue;
		n++;
		if (!longest || longest->n < c->series[i].n)
			longest = &c->series[i];
	}
	return n < SHOWN_THREADS ? longest : NULL;
}

bool cpu_shares_begin(struct cpu_shares *c, const struct view_track *track)
{
	c->thread = NULL;
	c->at = 0;
	if (!track->is_origin_real)
		return false;
	c->thread = get_series(c, track->origin, track->origin_tid);
	c->is_idle = c->thread && !c->thread->n;
	if (c->is_idle)
		c->thread = find_intervals(c, track);
	return c->thread && c->thread->n >= 2;
}

/* Adds the equation of the current interval, which is over. */
static void add_equation(struct cpu_shares *c)
{
	const struct cpu_reading *r = &c->thread->v[c->at++];
	double cpu_s = (c->is_idle ? 0 : r[0].share) * (double)(r[1].at_ns - r[0].at_ns) / 1e9;

	for (size_t i = 0; i < c->n_touched; i++) {
		size_t a = c->touched[i];

		for (size_t k = 0; k < c->n_touched; k++)
			c->squares[a][c->touched[k]] += c->spent_s[a] * c->spent_s[c->touched[k]];
		c->products[a] += c->spent_s[a] * cpu_s;
		c->total_s[a] += c->spent_s[a];
	}
	for (size_t i = 0; i < c->n_touched; i++)
		c->spent_s[c->touched[i]] = 0;
	c->n_touched = 0;
	c->cpu_squares += cpu_s * cpu_s;
	c->n_equations++;
}

static void interval_spend(struct cpu_shares *c, size_t column, int64_t ns)
{
	if (ns <= 0)
		return;
	if (!(c->spent_s[column] > 0))
		c->touched[c->n_touched++] = (uint8_t)column;
	c->spent_s[column] += (double)ns / 1e9;
}

void cpu_shares_spend(
	struct cpu_shares *c, uint32_t name, bool is_slow, int64_t start_ns, int64_t end_ns)
{
	const struct cpu_series *t = c->thread;
	size_t column = get_column(c, name, is_slow);

	if (start_ns < t->v[0].at_ns)
		start_ns = t->v[0].at_ns;
	while (c->at + 1 < t->n && start_ns < end_ns) {
		int64_t until_ns = t->v[c->at + 1].at_ns;

		if (end_ns < until_ns) {
			interval_spend(c, column, end_ns - start_ns);
			return;
		}
		interval_spend(c, column, until_ns - start_ns);
		add_equation(c);
		start_ns = until_ns;
	}
}

void cpu_shares_end(struct cpu_shares *c)
{
	for (size_t i = 0; i < c->n_touched; i++)
		c->spent_s[c->touched[i]] = 0;
	c->n_touched = 0;
	c->thread = NULL;
}

/* --- the solution -------------------------------------------------------------------------- */

/*
 * Finds the shares by coordinate descent: each share in turn is set to its optimum, between 0 and
 * 1, for the current values of the others.
 */
static void find_shares(struct cpu_shares *c, double weight)
{
	for (size_t i = 0; i < N_COLUMNS; i++)
		c->shares[i] = PRIOR_SHARE;
	for (int sweep = 0; sweep < N_SWEEPS; sweep++) {
		for (size_t i = 0; i < N_COLUMNS; i++) {
			double rest = c->products[i] + weight * PRIOR_SHARE;

			for (size_t k = 0; k < N_COLUMNS; k++)
				rest -= k == i ? 0 : c->squares[i][k] * c->shares[k];
			c->shares[i] = fmin(1, fmax(0, rest / (c->squares[i][i] + weight)));
		}
	}
}

/* Returns the residual variance of an equation. */
static double find_variance(const struct cpu_shares *c)
{
	double left = c->cpu_squares;
	double n_free = (double)c->n_equations;

	for (size_t i = 0; i < N_COLUMNS; i++) {
		left -= 2 * c->shares[i] * c->products[i];
		n_free -= c->total_s[i] > 0;
		for (size_t k = 0; k < N_COLUMNS; k++)
			left += c->shares[i] * c->squares[i][k] * c->shares[k];
	}
	if (n_free < 3)
		return -1;
	return fmax(left / n_free, MIN_SIGMA_S * MIN_SIGMA_S);
}

/*
 * Inverts a matrix in place (Gauss-Jordan); it is positive definite, so that no rows are exchanged.
 */
static void invert_matrix(double m[N_COLUMNS][N_COLUMNS])
{
	for (size_t i = 0; i < N_COLUMNS; i++) {
		double pivot = 1 / m[i][i];

		m[i][i] = 1;
		for (size_t k = 0; k < N_COLUMNS; k++)
			m[i][k] *= pivot;
		for (size_t j = 0; j < N_COLUMNS; j++) {
			double factor = m[j][i];

			if (j == i)
				continue;
			m[j][i] = 0;
			for (size_t k = 0; k < N_COLUMNS; k++)
				m[j][k] -= factor * m[i][k];
		}
	}
}

void cpu_shares_solve(struct cpu_shares *c)
{
	double variance;
	double weight;

	find_shares(c, 1e-9);
	variance = find_variance(c);
	if (variance < 0)
		return;
	weight = variance / (PRIOR_SIGMA * PRIOR_SIGMA);
	find_shares(c, weight);
	memcpy(c->covariance, c->squares, sizeof c->covariance);
	for (size_t i = 0; i < N_COLUMNS; i++)
		c->covariance[i][i] += weight;
	invert_matrix(c->covariance);
	for (size_t i = 0; i < N_COLUMNS; i++)
		for (size_t k = 0; k < N_COLUMNS; k++)
			c->covariance[i][k] *= variance;
	c->is_solved = true;
}

/* Computes the processor time within |times|, and its error. False: it is not known. */
static bool sum_times(
	const struct cpu_shares *c, const double times[N_COLUMNS], double *cpu, double *error)
{
	double variance = 0;
	double all = 0;

	*cpu = 0;
	for (size_t i = 0; i < N_COLUMNS; i++) {
		all += times[i];
		*cpu += times[i] * c->shares[i];
		for (size_t k = 0; k < N_COLUMNS && times[i] != 0; k++)
			variance += times[i] * c->covariance[i][k] * times[k];
	}
	*error = 2 * sqrt(fmax(0, variance));
	return c->is_solved && all > 0 && *error <= MAX_ERROR * all;
}

bool cpu_shares_find(const struct cpu_shares *c, const struct cpu_part *parts, size_t n, double *ns,
	double *error_ns)
{
	double times[N_COLUMNS] = {0};

	for (size_t i = 0; i < n; i++)
		times[get_column(c, parts[i].name, parts[i].is_slow)] += parts[i].ns;
	return sum_times(c, times, ns, error_ns);
}

bool cpu_shares_get(const struct cpu_shares *c, uint32_t name, double *share, double *error)
{
	double times[N_COLUMNS] = {0};
	size_t column = c->columns[name];
	double all = c->total_s[column] + c->total_s[column + 1];

	if (column == REST || !(all > 0))
		return false;
	times[column] = c->total_s[column] / all;
	times[column + 1] = c->total_s[column + 1] / all;
	return sum_times(c, times, share, error);
}

bool cpu_shares_is_wait(const struct cpu_shares *c, uint32_t name)
{
	double share;
	double error;

	return c && cpu_shares_get(c, name, &share, &error) && share + error <= WAIT_SHARE;
}
