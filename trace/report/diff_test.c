/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether the rows of a comparison differ by more than chance. The spans of both traces are
 * read once more.
 */
#include "trace/report/diff_test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/diff.h"
#include "trace/report/stretches.h"

#define NOT_TESTED UINT32_MAX
#define N_QUANTILES 4 /* p50, p90, p99, p99.9 */

_Static_assert(N_QUANTILES == STRETCHES_LIMITS, "each quantile has a limit");

#define MUCH_LARGER 1.5

/*
 * The tail of a test has at least this many spans of both traces together, or half of all spans if
 * that is fewer, even if the quantile's own tail has fewer.
 */
#define FEWEST_IN_TAIL 32

/* --- reading stretches --------------------------------------------------------------------- */

/*
 * The stretches of a tested row: durations of whole spans, and all spans that began while
 * recording, both by the clock; count and total by the units of work.
 */
struct tested {
	struct stretches by_time[2];
	struct stretches begun[2];
	struct stretches by_work[2];
	int64_t limits_ns[N_QUANTILES];
};

bool diff_row_is_tested(const struct diff_row *row)
{
	return row->a && row->b &&
	       (row->a->count >= STRETCHES_FEWEST || row->b->count >= STRETCHES_FEWEST);
}

static int tested_prepare(struct tested *t, const struct diff *diff, const struct diff_row *row)
{
	static const double quantiles[N_QUANTILES] = {0.5, 0.9, 0.99, 0.999};
	double shares[N_QUANTILES];

	for (int i = 0; i < N_QUANTILES; i++)
		shares[i] = fmin(0.5, fmax(1 - quantiles[i],
					      FEWEST_IN_TAIL / fmax(1, (double)(row->a->n_whole +
										row->b->n_whole))));
	for (int i = 0; i < 2; i++) {
		t->by_time[i].n_keys = PACE_MOMENTS;
		t->begun[i].n_keys = PACE_MOMENTS;
		t->by_work[i].n_keys = pace_count_keys(&diff->pace.sides[i]);
	}
	return sample_split(
		&row->a->durations, &row->b->durations, shares, N_QUANTILES, t->limits_ns);
}

void diff_testing_deinit(struct diff_testing *t)
{
	for (size_t i = 0; t->v && i < t->n; i++)
		for (int side = 0; side < 2; side++) {
			stretches_deinit(&t->v[i].by_time[side]);
			stretches_deinit(&t->v[i].begun[side]);
			stretches_deinit(&t->v[i].by_work[side]);
		}
	free(t->v);
}

/* The reading of one side. */
struct testing_side {
	struct diff_testing *testing;
	int side;
	/* List of the track that is read; DIGEST_LISTS: only its steps are in a list */
	enum digest_list list;
	uint32_t *places[DIGEST_LISTS]; /* by name: place in |testing|, or NOT_TESTED */
};

static int testing_add(struct testing_side *t, enum digest_list list, const struct item *item)
{
	uint32_t place = t->places[list][item->name];
	const struct pace_side *pace = &t->testing->diff->pace.sides[t->side];
	struct tested *to;
	uint32_t moment;
	uint32_t work;

	if (place == NOT_TESTED)
		return 0;
	to = &t->testing->v[place];
	moment = pace_find_moment(pace, item->start_ns);
	work = pace_find_work(pace, item->start_ns);
	if (item->is_started_before)
		return stretches_add_rest(&to->by_work[t->side], work, item->duration_ns);
	if (item_is_whole(item) &&
		stretches_add(&to->by_time[t->side], moment, item->duration_ns, to->limits_ns))
		return -ENOMEM;
	if (stretches_add(&to->begun[t->side], moment, item->duration_ns, to->limits_ns))
		return -ENOMEM;
	return stretches_add(&to->by_work[t->side], work, item->duration_ns, to->limits_ns);
}

static int testing_read(void *testing, const struct item *item)
{
	struct testing_side *t = testing;
	int r = t->list == DIGEST_LISTS ? 0 : testing_add(t, t->list, item);

	return r == 0 && item->is_step ? testing_add(t, LIST_STEPS, item) : r;
}

static int testing_map(struct testing_side *t)
{
	const struct diff *diff = t->testing->diff;
	size_t n = diff->pace.sides[t->side].n_names + 1;
	uint32_t place = 0;

	for (int i = 0; i < DIGEST_LISTS; i++) {
		t->places[i] = malloc(n * sizeof *t->places[i]);
		if (!t->places[i])
			return -ENOMEM;
		memset(t->places[i], 0xff, n * sizeof *t->places[i]);
	}
	for (size_t i = 0; i < diff->n; i++) {
		const struct diff_row *row = &diff->v[i];

		if (diff_row_is_tested(row))
			t->places[row->list][(t->side ? row->b : row->a)->name] = place++;
	}
	return 0;
}

static int testing_read_side(struct diff_testing *testing, int side, struct diag *d)
{
	const struct view *view = testing->diff->pace.sides[side].digest->view;
	struct testing_side t = {.testing = testing, .side = side};
	int r = testing_map(&t);

	for (size_t i = 0; i < view->n_tracks && r == 0; i++) {
		const struct view_track *track = &view->tracks[i];

		if (track->kind == TRACK_COUNTERS)
			continue;
		t.list = track->is_derived	       ? DIGEST_LISTS
			 : track->kind == TRACK_ASYNC  ? LIST_ASYNCS
			 : track->kind == TRACK_STREAM ? LIST_KERNELS
						       : LIST_SPANS;
		r = cursor_read(view, track, testing_read, &t, d);
	}
	for (int i = 0; i < DIGEST_LISTS; i++)
		free(t.places[i]);
	return r;
}

int diff_testing_make(struct diff_testing *t, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < t->diff->n; i++)
		t->n += diff_row_is_tested(&t->diff->v[i]);
	t->v = calloc(t->n + 1, sizeof *t->v);
	if (!t->v)
		return -ENOMEM;
	for (size_t i = 0, place = 0; i < t->diff->n && r == 0; i++)
		if (diff_row_is_tested(&t->diff->v[i]))
			r = tested_prepare(&t->v[place++], t->diff, &t->diff->v[i]);
	for (int side = 0; side < 2 && r == 0; side++)
		r = testing_read_side(t, side, d);
	return r;
}

/* --- tests --------------------------------------------------------------------------------- */

/*
 * The total is larger beyond chance in three cases: its own test shows it; or the mean is larger
 * beyond chance, and there are not fewer spans; or there are more spans beyond chance, and the mean
 * is not shorter. The best p-value is multiplied by the number of these tests.
 */
static double find_p_of_total(struct diff_row *row)
{
	static const enum diff_metric parts[2] = {DIFF_MEAN, DIFF_COUNT};
	struct diff_measure *own = &row->measures[DIFF_TOTAL];
	int direction = (row->growth_ns > 0) - (row->growth_ns < 0);
	int n_tests = own->p >= 0;
	double p = own->p >= 0 ? own->p : 1;

	own->direction = direction;
	for (int i = 0; i < 2; i++) {
		const struct diff_measure *part = &row->measures[parts[i]];
		const struct diff_measure *other = &row->measures[parts[1 - i]];

		if (part->p < 0)
			continue;
		n_tests++;
		if (part->direction == direction && other->change * direction >= 0)
			p = fmin(p, part->p);
	}
	return n_tests ? fmin(1, p * n_tests) : -1;
}

void diff_measure_set_test(struct diff_measure *m, struct stretches_test test)
{
	if (m->p >= 0 && test.variance <= MUCH_LARGER * m->variance)
		return;
	if (m->p < 0)
		m->variance = test.variance;
	m->p = fmax(m->p, test.p);
	m->direction = test.direction;
}

void diff_measure_check_direction(struct diff_measure *m)
{
	if (m->p >= 0 && m->direction * m->change <= 0)
		m->p = 1;
}

/* Tests durations and the rate. */
static void diff_test_times(const struct diff *diff, struct diff_row *row, struct tested *t)
{
	double length_a = diff->pace.sides[0].length_ns;
	double length_b = diff->pace.sides[1].length_ns;
	struct stretches *a = &t->by_time[0];
	struct stretches *b = &t->by_time[1];
	struct diff_measure *m = row->measures;
	int n_quantiles = N_QUANTILES;

	/*
	 * With few spans the 99.9th percentile is nearly the maximum, which has a test of its own.
	 */
	if (row->a->n_whole < ROW_P999_FEWEST || row->b->n_whole < ROW_P999_FEWEST)
		n_quantiles--;
	diff_measure_set_test(&m[DIFF_MAX], stretches_test_max(a, b));
	do {
		diff_measure_set_test(&m[DIFF_MEAN], stretches_test_mean(a, b));
		for (int i = 0; i < n_quantiles; i++)
			diff_measure_set_test(
				&m[DIFF_P50 + i], stretches_test_above(a, b, (size_t)i));
	} while (stretches_widen_both(a, b));
	a = &t->begun[0];
	b = &t->begun[1];
	do
		diff_measure_set_test(
			&m[DIFF_RATE], stretches_test_count(a, b, length_a, length_b));
	while (stretches_widen_both(a, b));
}

/* Tests the total and the count, which are divided by units of work. */
static void diff_test_sums(const struct diff *diff, struct diff_row *row, struct tested *t)
{
	double units_a = diff->pace.sides[0].units;
	double units_b = diff->pace.sides[1].units;
	struct stretches *a = &t->by_work[0];
	struct stretches *b = &t->by_work[1];
	struct diff_measure *m = row->measures;

	do {
		diff_measure_set_test(&m[DIFF_COUNT], stretches_test_count(a, b, units_a, units_b));
		diff_measure_set_test(&m[DIFF_TOTAL], stretches_test_total(a, b, units_a, units_b));
	} while (stretches_widen_both(a, b));
	m[DIFF_TOTAL].p = find_p_of_total(row);
}

void diff_test(struct diff_testing *t, size_t place, struct diff_row *row)
{
	diff_test_times(t->diff, row, &t->v[place]);
	diff_test_sums(t->diff, row, &t->v[place]);
	/* A test of ranks can point in the other direction than the reported quantile. */
	for (int i = 0; i < DIFF_METRICS; i++)
		diff_measure_check_direction(&row->measures[i]);
}

/* --- p-values ------------------------------------------------------------------------------ */

static int compare_p(const void *left, const void *right)
{
	const struct diff_p_value *a = left;
	const struct diff_p_value *b = right;

	return a->p < b->p ? -1 : a->p > b->p;
}

void diff_correct_p_values(struct diff_p_value *v, size_t n)
{
	double most = 0;

	if (n)
		qsort(v, n, sizeof *v, compare_p);
	for (size_t i = 0; i < n; i++) {
		most = fmax(most, fmin(1, v[i].p * (double)(n - i)));
		*v[i].corrected = most;
	}
}
