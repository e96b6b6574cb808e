/* SPDX-License-Identifier: Apache-2.0 */
/* Differences; see diff.h. */
#include "trace/report/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "trace/model/names.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/stretches.h"
#include "trace/saturate.h"

#define NOT_TESTED UINT32_MAX
#define N_QUANTILES 4 /* p50, p90, p99, p99.9 */

_Static_assert(N_QUANTILES == STRETCHES_LIMITS, "each quantile has a limit");

#define MUCH_LARGER 1.5

/* The tail of a test has so many spans of both traces, or half of all, also if the quantile's own tail has fewer. */
#define FEWEST_IN_TAIL 32

static const char *const metric_names[DIFF_METRICS] = {
	[DIFF_TOTAL] = "total",
	[DIFF_MEAN] = "mean",
	[DIFF_P50] = "p50",
	[DIFF_P90] = "p90",
	[DIFF_P99] = "p99",
	[DIFF_P999] = "p999",
	[DIFF_MAX] = "max",
	[DIFF_COUNT] = "count",
	[DIFF_RATE] = "rate",
};

const char *diff_get_metric_name(enum diff_metric metric)
{
	return metric_names[metric];
}

enum diff_metric diff_find_metric(const char *name, size_t n)
{
	int i = 0;

	while (i < DIFF_METRICS &&
		(strlen(metric_names[i]) != n || strncmp(metric_names[i], name, n) != 0))
		i++;
	return (enum diff_metric)i;
}

/* --- rows ---------------------------------------------------------------------------------- */

static bool is_same(const struct row *a, const struct row *b)
{
	return a->count == b->count && a->n_whole == b->n_whole && a->total_ns == b->total_ns &&
	       a->p50_ns == b->p50_ns && a->p90_ns == b->p90_ns && a->p99_ns == b->p99_ns &&
	       a->p999_ns == b->p999_ns && a->max_ns == b->max_ns;
}

static bool row_is_request(const struct pace_side *s, enum digest_list list, const struct row *row)
{
	return !row || (list == LIST_SPANS && pace_are_requests(s, row->name, row->count));
}

static void diff_add(
	struct diff *diff, enum digest_list list, const char *name, struct row *a, struct row *b)
{
	struct diff_row row = {.list = list, .name = name, .a = a, .b = b, .p = -1};

	row.is_request =
		list == LIST_ASYNCS || (row_is_request(&diff->pace.sides[0], list, a) &&
					       row_is_request(&diff->pace.sides[1], list, b));
	row.verdict = a && b ? DIFF_TOO_FEW : a ? DIFF_VANISHED : DIFF_APPEARED;
	diff->n_compared += a && b;
	diff->n_steps_compared += a && b && list == LIST_STEPS;
	diff->v[diff->n++] = row;
}

/* For each name of the view: its row in the list plus 1, or 0 if it has none. */
static uint32_t *map_rows(const struct digest *g, const struct rows *rows)
{
	uint32_t *places = calloc((size_t)g->view->names.n_texts + 1, sizeof *places);

	for (size_t i = 0; places && i < rows->n; i++)
		places[rows->v[i].name] = (uint32_t)i + 1;
	return places;
}

static bool has_steps_only(const struct row *row)
{
	return !row || row->n_steps == row->count;
}

/* Names that are steps, wherever they are there, are compared as steps. */
static bool is_left_out(enum digest_list list, const struct row *a, const struct row *b)
{
	return list == LIST_SPANS && has_steps_only(a) && has_steps_only(b);
}

static int compare_list(
	struct diff *diff, struct digest *a, struct digest *b, enum digest_list list)
{
	struct rows *rows_a = &a->lists[list];
	struct rows *rows_b = &b->lists[list];
	_cleanup_free_ uint32_t *places = map_rows(b, rows_b);
	_cleanup_free_ uint8_t *is_seen = calloc(rows_b->n + 1, 1);

	if (!places || !is_seen)
		return -ENOMEM;
	for (size_t i = 0; i < rows_a->n; i++) {
		const char *name = names_get(&a->view->names, rows_a->v[i].name);
		uint32_t in_b = names_find(&b->view->names, name);
		uint32_t place = in_b == NAMES_NONE ? 0 : places[in_b];
		struct row *row_b = place ? &rows_b->v[place - 1] : NULL;

		if (place)
			is_seen[place - 1] = 1;
		if (!is_left_out(list, &rows_a->v[i], row_b))
			diff_add(diff, list, name, &rows_a->v[i], row_b);
	}
	for (size_t i = 0; i < rows_b->n; i++)
		if (!is_seen[i] && !is_left_out(list, NULL, &rows_b->v[i]))
			diff_add(diff, list, names_get(&b->view->names, rows_b->v[i].name), NULL,
				&rows_b->v[i]);
	return 0;
}

static int make_room(struct diff *diff, const struct digest *a, const struct digest *b)
{
	size_t n = 1;

	for (int i = 0; i < DIGEST_LISTS; i++)
		n += a->lists[i].n + b->lists[i].n;
	diff->v = calloc(n, sizeof *diff->v);
	return diff->v ? 0 : -ENOMEM;
}

/* --- reading stretches --------------------------------------------------------------------- */

/* The spans of a row that is tested: durations of the whole ones and starts by the clock, sums by the work. */
struct tested {
	struct stretches by_time[2];
	struct stretches begun[2];
	struct stretches by_work[2];
	int64_t limits_ns[N_QUANTILES];
};

struct testing {
	const struct diff *diff;
	struct tested *v; /* of the rows that are tested, in their order */
	size_t n;
};

static bool row_is_tested(const struct diff_row *row)
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

static void testing_deinit(struct testing *t)
{
	for (size_t i = 0; t->v && i < t->n; i++)
		for (int side = 0; side < 2; side++) {
			stretches_deinit(&t->v[i].by_time[side]);
			stretches_deinit(&t->v[i].begun[side]);
			stretches_deinit(&t->v[i].by_work[side]);
		}
	free(t->v);
}

/* One side, read once more. */
struct testing_side {
	struct testing *testing;
	int side;
	enum digest_list list; /* of the track; DIGEST_LISTS: only its steps are listed */
	uint32_t *places[DIGEST_LISTS]; /* in testing, by name; NOT_TESTED */
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
	int rc = t->list == DIGEST_LISTS ? 0 : testing_add(t, t->list, item);

	return rc == 0 && item->is_step ? testing_add(t, LIST_STEPS, item) : rc;
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

		if (row_is_tested(row))
			t->places[row->list][(t->side ? row->b : row->a)->name] = place++;
	}
	return 0;
}

static int testing_read_side(struct testing *testing, int side, struct diag *d)
{
	const struct view *view = testing->diff->pace.sides[side].digest->view;
	struct testing_side t = {.testing = testing, .side = side};
	int rc = testing_map(&t);

	for (size_t i = 0; i < view->n_tracks && rc == 0; i++) {
		const struct view_track *track = &view->tracks[i];

		if (track->kind == TRACK_COUNTERS)
			continue;
		t.list = track->is_derived	       ? DIGEST_LISTS
			 : track->kind == TRACK_ASYNC  ? LIST_ASYNCS
			 : track->kind == TRACK_STREAM ? LIST_KERNELS
						       : LIST_SPANS;
		rc = cursor_read(view, track, testing_read, &t, d);
	}
	for (int i = 0; i < DIGEST_LISTS; i++)
		free(t.places[i]);
	return rc;
}

static int testing_make(struct testing *t, struct diag *d)
{
	int rc = 0;

	for (size_t i = 0; i < t->diff->n; i++)
		t->n += row_is_tested(&t->diff->v[i]);
	t->v = calloc(t->n + 1, sizeof *t->v);
	if (!t->v)
		return -ENOMEM;
	for (size_t i = 0, place = 0; i < t->diff->n && rc == 0; i++)
		if (row_is_tested(&t->diff->v[i]))
			rc = tested_prepare(&t->v[place++], t->diff, &t->diff->v[i]);
	for (int side = 0; side < 2 && rc == 0; side++)
		rc = testing_read_side(t, side, d);
	return rc;
}

/* --- measuring ----------------------------------------------------------------------------- */

static double find_change(double a, double b)
{
	if (a == b)
		return 0;
	return a == 0 ? INFINITY : b / a - 1;
}

/* Whether it grows with the number of events, so that it says nothing if some were lost. */
static bool is_of_events(enum diff_metric metric)
{
	return metric == DIFF_TOTAL || metric == DIFF_COUNT || metric == DIFF_RATE;
}

/* NaN: of spans that were all cut nobody knows how long they took. */
static double get_value(
	const struct row *row, const struct pace_side *pace, enum diff_metric metric)
{
	double count = row ? (double)row_count_begun(row) : 0;

	if (!row)
		return is_of_events(metric) ? 0 : NAN;
	if (!row->n_whole && metric >= DIFF_MEAN && metric <= DIFF_MAX)
		return NAN;
	switch (metric) {
	case DIFF_TOTAL:
		return (double)row->total_ns;
	case DIFF_MEAN:
		return (double)row->whole_ns / (double)row->n_whole;
	case DIFF_P50:
		return (double)row->p50_ns;
	case DIFF_P90:
		return (double)row->p90_ns;
	case DIFF_P99:
		return (double)row->p99_ns;
	case DIFF_P999:
		return (double)row->p999_ns;
	case DIFF_MAX:
		return (double)row->max_ns;
	case DIFF_COUNT:
		return count;
	case DIFF_RATE:
		return count / (pace->length_ns / 1e9);
	case DIFF_METRICS:
		break;
	}
	return 0;
}

static bool is_divided(enum diff_metric metric)
{
	return metric == DIFF_TOTAL || metric == DIFF_COUNT;
}

static void diff_measure(const struct diff *diff, struct diff_row *row)
{
	const struct pace_side *a = &diff->pace.sides[0];
	const struct pace_side *b = &diff->pace.sides[1];

	for (int i = 0; i < DIFF_METRICS; i++) {
		enum diff_metric metric = (enum diff_metric)i;
		struct diff_measure *m = &row->measures[i];
		double per_a = is_divided(metric) ? a->units : 1;
		double per_b = is_divided(metric) ? b->units : 1;

		m->a = get_value(row->a, a, metric);
		m->b = get_value(row->b, b, metric);
		m->change = find_change(m->a / per_a, m->b / per_b);
		m->p = -1;
		m->p_corrected = -1;
		m->verdict = DIFF_TOO_FEW;
	}
	row->growth_ns =
		row->measures[DIFF_TOTAL].b / b->units - row->measures[DIFF_TOTAL].a / a->units;
}

/*
 * The total is larger beyond chance where its own test says so; also where the mean is, and there are not fewer spans; also
 * where there are more spans beyond chance, and the mean is not shorter. The best of the tests counts as often as there are.
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

/* A few wide stretches tell the variance badly: they count only if it is much larger than that of the narrow ones. */
static void set_test(struct diff_measure *m, struct stretches_test test)
{
	if (m->p >= 0 && test.variance <= MUCH_LARGER * m->variance)
		return;
	if (m->p < 0)
		m->variance = test.variance;
	m->p = fmax(m->p, test.p);
	m->direction = test.direction;
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

	/* With fewer spans the 99.9th percentile is the longest one, or nearly. */
	if (row->a->n_whole < ROW_P999_FEWEST || row->b->n_whole < ROW_P999_FEWEST)
		n_quantiles--;
	set_test(&m[DIFF_MAX], stretches_test_max(a, b));
	do {
		set_test(&m[DIFF_MEAN], stretches_test_mean(a, b));
		for (int i = 0; i < n_quantiles; i++)
			set_test(&m[DIFF_P50 + i], stretches_test_above(a, b, (size_t)i));
	} while (stretches_widen_both(a, b));
	a = &t->begun[0];
	b = &t->begun[1];
	do
		set_test(&m[DIFF_RATE], stretches_test_count(a, b, length_a, length_b));
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
		set_test(&m[DIFF_COUNT], stretches_test_count(a, b, units_a, units_b));
		set_test(&m[DIFF_TOTAL], stretches_test_total(a, b, units_a, units_b));
	} while (stretches_widen_both(a, b));
	m[DIFF_TOTAL].p = find_p_of_total(row);
}

static void diff_test(const struct diff *diff, struct diff_row *row, struct tested *t)
{
	diff_test_times(diff, row, t);
	diff_test_sums(diff, row, t);
	/* A test of the values' ranks can point elsewhere than the quantile that is told: nothing is sure of that then. */
	for (int i = 0; i < DIFF_METRICS; i++) {
		struct diff_measure *m = &row->measures[i];

		if (m->p >= 0 && m->direction * m->change <= 0)
			m->p = 1;
	}
}

/* --- correction ---------------------------------------------------------------------------- */

struct p_value {
	double p;
	double *corrected;
};

static int compare_p(const void *left, const void *right)
{
	const struct p_value *a = left;
	const struct p_value *b = right;

	return a->p < b->p ? -1 : a->p > b->p;
}

/* Holm's: the smallest counts as often as there are tests, the next one time less, and so on; none gets below those before. */
static void correct(struct p_value *v, size_t n)
{
	double most = 0;

	if (n)
		qsort(v, n, sizeof *v, compare_p);
	for (size_t i = 0; i < n; i++) {
		most = fmax(most, fmin(1, v[i].p * (double)(n - i)));
		*v[i].corrected = most;
	}
}

/* When steps take longer, there are fewer of all that is in them: their rate says enough. */
static bool row_tells(const struct diff_row *row, enum diff_metric metric)
{
	return metric != DIFF_RATE || row->is_request || row->list == LIST_STEPS;
}

static void row_conclude(const struct diff *diff, struct diff_row *row)
{
	for (int i = 0; i < DIFF_METRICS; i++) {
		struct diff_measure *m = &row->measures[i];

		if (m->verdict == DIFF_LOST && row->verdict == DIFF_TOO_FEW)
			row->verdict = DIFF_LOST;
		if (m->p < 0)
			continue;
		m->verdict = m->p_corrected < DIFF_P ? DIFF_SURE : DIFF_NOT_SURE;
		if (!row_tells(row, (enum diff_metric)i))
			continue;
		row->verdict = m->verdict > row->verdict ? m->verdict : row->verdict;
		row->p = row->p < 0 || m->p_corrected < row->p ? m->p_corrected : row->p;
		if (m->verdict == DIFF_SURE)
			row->weight_ns = fmax(
				row->weight_ns, diff_get_weight(diff, row, (enum diff_metric)i));
	}
	row->is_same = row->verdict != DIFF_SURE && is_same(row->a, row->b);
}

static int diff_conclude(struct diff *diff)
{
	_cleanup_free_ struct p_value *values = calloc(diff->n * DIFF_METRICS + 1, sizeof *values);

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < diff->n; i++)
		for (int k = 0; k < DIFF_METRICS; k++) {
			struct diff_measure *m = &diff->v[i].measures[k];

			if (diff->v[i].a && diff->v[i].b && m->p >= 0)
				values[diff->n_tests++] = (struct p_value){m->p, &m->p_corrected};
		}
	correct(values, diff->n_tests);
	for (size_t i = 0; i < diff->n; i++)
		if (diff->v[i].a && diff->v[i].b)
			row_conclude(diff, &diff->v[i]);
	return 0;
}

/* --- order --------------------------------------------------------------------------------- */

double diff_get_weight(const struct diff *diff, const struct diff_row *row, enum diff_metric metric)
{
	static const double tails[] = {
		[DIFF_P50] = 0.5, [DIFF_P90] = 0.1, [DIFF_P99] = 0.01, [DIFF_P999] = 0.001};
	const struct diff_measure *m = &row->measures[metric];
	const struct pace_side *a = &diff->pace.sides[0];
	const struct pace_side *b = &diff->pace.sides[1];
	double count = fmax((double)row_count_begun(row->a) / a->units,
		(double)row_count_begun(row->b) / b->units);
	double mean_ns = fmax(row->measures[DIFF_MEAN].a, row->measures[DIFF_MEAN].b);

	switch (metric) {
	case DIFF_TOTAL:
		return fabs(row->growth_ns);
	case DIFF_MEAN:
		return fabs(m->b - m->a) * count;
	case DIFF_P50:
	case DIFF_P90:
	case DIFF_P99:
	case DIFF_P999:
		return fabs(m->b - m->a) * count * tails[metric];
	case DIFF_MAX:
		return fabs(m->b - m->a) / fmax(a->units, b->units);
	case DIFF_COUNT:
		return fabs(m->b / b->units - m->a / a->units) * mean_ns;
	case DIFF_RATE:
		return fabs(m->b - m->a) / fmax(m->a, m->b) *
		       fmin(row->measures[DIFF_TOTAL].a / a->units,
			       row->measures[DIFF_TOTAL].b / b->units);
	case DIFF_METRICS:
		break;
	}
	return 0;
}

size_t diff_sort_metrics(
	const struct diff *diff, const struct diff_row *row, enum diff_metric out[DIFF_METRICS])
{
	size_t n = 0;

	for (int i = 0; i < DIFF_METRICS; i++) {
		enum diff_metric metric = (enum diff_metric)i;
		double weight = diff_get_weight(diff, row, metric);
		size_t at = n;

		if (row->measures[i].verdict != DIFF_SURE || !row_tells(row, metric))
			continue;
		for (; at && diff_get_weight(diff, row, out[at - 1]) < weight; at--)
			out[at] = out[at - 1];
		out[at] = metric;
		n++;
	}
	return n;
}

static int compare_rows(const void *left, const void *right)
{
	const struct diff_row *a = left;
	const struct diff_row *b = right;
	bool is_step_a = a->list == LIST_STEPS;
	bool is_step_b = b->list == LIST_STEPS;

	if (a->is_same != b->is_same)
		return a->is_same - b->is_same;
	if (is_step_a != is_step_b)
		return is_step_b - is_step_a;
	if (a->weight_ns != b->weight_ns)
		return a->weight_ns > b->weight_ns ? -1 : 1;
	if (fabs(a->growth_ns) != fabs(b->growth_ns))
		return fabs(a->growth_ns) > fabs(b->growth_ns) ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* --- the whole ----------------------------------------------------------------------------- */

/* Adds up the busy time of all programs and devices. */
static double find_busy_ns(const struct digest *g)
{
	double busy_ns = 0;

	for (size_t i = 0; i < g->view->n_origins; i++)
		busy_ns += (double)g->processes[i].busy.busy_ns;
	return fmax(busy_ns, 1);
}

/* Adds up a stat of all planes that counts losses. Only files of earlier versions have the one for crowded async spans. */
static uint64_t count_stat(const struct digest *g, const char *key)
{
	int64_t n = 0;

	for (size_t i = 0; i < g->n_planes; i++)
		n = add_saturated(n, archive_plane_find_int(g->planes[i].plane, key));
	return n > 0 ? (uint64_t)n : 0;
}

static bool is_large_loss(uint64_t lost, uint64_t kept)
{
	return (double)lost > DIFF_LOST_SHARE * ((double)lost + (double)kept);
}

/* A recorder wrote over what lies before the time since when all of its threads are complete. */
static void diff_read_losses(struct diff *diff, int side)
{
	const struct digest *g = diff->pace.sides[side].digest;
	const struct report_totals *t = &g->totals;
	uint64_t kept =
		t->n_spans + t->n_instants + t->n_asyncs + t->n_flow_marks + t->n_counter_samples;
	uint64_t crowded = count_stat(g, "ptap_lost_async_crowded");
	uint64_t lost = t->n_dropped > crowded ? t->n_dropped - crowded : 0;

	if (g->begin_ns < g->complete_ns)
		lost += count_stat(g, "ptap_overwritten");
	diff->lost[side] = is_large_loss(lost, kept) ? lost : 0;
	diff->lost_asyncs[side] = crowded;
}

static uint64_t count_lost(const struct diff *diff, const struct diff_row *row, int side)
{
	const struct row *there = side ? row->b : row->a;
	uint64_t n = diff->lost[side];

	if (row->list == LIST_ASYNCS &&
		is_large_loss(diff->lost_asyncs[side], there ? there->count : 0))
		n += diff->lost_asyncs[side];
	return n;
}

static bool is_unit(const struct diff *diff, const struct diff_row *row)
{
	return diff->pace.name && strcmp(diff->pace.name, row->name) == 0 &&
	       (diff->pace.unit == PACE_STEP ? row->list == LIST_STEPS : row->is_request);
}

static void row_mark_lost(struct diff_row *row, enum diff_metric metric)
{
	row->measures[metric].p = -1;
	row->measures[metric].verdict = DIFF_LOST;
}

/* Where the units of work were lost, nothing that is divided by them is known of any name. */
static void diff_find_losses(struct diff *diff)
{
	uint64_t lost_units[2] = {0, 0};

	for (int side = 0; side < 2; side++)
		diff_read_losses(diff, side);
	for (size_t i = 0; i < diff->n; i++)
		for (int side = 0; side < 2 && is_unit(diff, &diff->v[i]); side++)
			lost_units[side] = count_lost(diff, &diff->v[i], side);
	for (size_t i = 0; i < diff->n; i++) {
		struct diff_row *row = &diff->v[i];
		bool is_lossy = lost_units[0] || lost_units[1];

		for (int side = 0; side < 2; side++) {
			uint64_t lost = count_lost(diff, row, side);

			row->lost[side] = lost ? lost : lost_units[side];
			if (lost)
				row_mark_lost(row, DIFF_RATE);
			is_lossy = is_lossy || lost;
		}
		if (is_lossy) {
			row_mark_lost(row, DIFF_TOTAL);
			row_mark_lost(row, DIFF_COUNT);
		}
	}
}

static void diff_measure_all(struct diff *diff, const struct testing *t)
{
	double busy_a = find_busy_ns(diff->pace.sides[0].digest);
	double busy_b = find_busy_ns(diff->pace.sides[1].digest);
	size_t place = 0;

	for (size_t i = 0; i < diff->n; i++) {
		struct diff_row *row = &diff->v[i];
		double total_a = row->a ? (double)row->a->total_ns : 0;
		double total_b = row->b ? (double)row->b->total_ns : 0;

		row->share = fmax(total_a / busy_a, total_b / busy_b);
		diff_measure(diff, row);
		if (row_is_tested(row))
			diff_test(diff, row, &t->v[place++]);
	}
	diff_find_losses(diff);
}

static int diff_compare(struct diff *diff, struct diag *d)
{
	struct testing testing = {.diff = diff};
	int rc = testing_make(&testing, d);

	if (rc == 0)
		diff_measure_all(diff, &testing);
	testing_deinit(&testing);
	return rc ? rc : diff_conclude(diff);
}

static int diff_find(
	struct digest *a, struct digest *b, const char *per, struct diff *out, struct diag *d)
{
	int rc = pace_make(a, b, per, &out->pace, d);

	if (rc)
		return rc;
	if (digest_gather_steps(a) || digest_gather_steps(b) || make_room(out, a, b))
		return -ENOMEM;
	for (int i = 0; i < DIGEST_LISTS; i++)
		if (compare_list(out, a, b, (enum digest_list)i))
			return -ENOMEM;
	rc = diff_compare(out, d);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, compare_rows);
	for (; out->n && out->v[out->n - 1].is_same; out->n--)
		out->n_same++;
	return rc;
}

int diff_make(struct digest *a, struct digest *b, const char *per, struct diff *out, struct diag *d)
{
	int rc;

	*out = (struct diff){.v = NULL};
	rc = diff_find(a, b, per, out, d);
	if (rc && !(d && d->text[0]))
		return diag_set(d, rc, "no comparison: %s", errno_words(rc));
	return rc;
}

void diff_deinit(struct diff *diff)
{
	free(diff->v);
	pace_deinit(&diff->pace);
	*diff = (struct diff){.v = NULL};
}

/* --- limits -------------------------------------------------------------------------------- */

static int judge(struct diff_judgements *to, const struct diff_limit *limit, struct diff_row *row,
	enum diff_metric metric)
{
	struct diff_judgement judgement = {limit, metric, row, -1, DIFF_PASSED};

	if (grow(&to->v, &to->n_allocated, to->n + 1))
		return -ENOMEM;
	if (row && row->a && row->b)
		judgement.p = row->measures[metric].p;
	to->v[to->n++] = judgement;
	return 0;
}

static int judge_row(
	struct diff_judgements *to, const struct diff_limit *limit, struct diff_row *row)
{
	static const enum diff_metric usual[] = {DIFF_P50, DIFF_P99, DIFF_TOTAL};
	int rc = 0;

	if (limit->metric != DIFF_USUAL)
		return judge(to, limit, row, limit->metric);
	for (size_t i = 0; i < sizeof usual / sizeof usual[0] && rc == 0; i++)
		rc = judge(to, limit, row, usual[i]);
	return rc;
}

/* A name that was a span in the first trace and is a step in the second, say, is not new. */
static bool row_is_new(const struct diff *diff, const struct diff_row *row)
{
	if (row->a)
		return false;
	for (size_t i = 0; i < diff->n + diff->n_same; i++)
		if (diff->v[i].a && strcmp(diff->v[i].name, row->name) == 0)
			return false;
	return true;
}

/* A name that is new has only sums to compare with: they were 0. */
static bool limit_is_of_sums(const struct diff_limit *limit)
{
	return limit->metric == DIFF_USUAL || limit->metric == DIFF_TOTAL ||
	       limit->metric == DIFF_COUNT;
}

static int judge_single(
	struct diff_judgements *to, const struct diff_limit *limit, struct diff_row *row)
{
	return judge(to, limit, row, limit->metric == DIFF_USUAL ? DIFF_TOTAL : limit->metric);
}

/* All names that take much of the time in one of the traces. */
static int judge_large(
	struct diff_judgements *to, const struct diff_limit *limit, const struct diff *diff)
{
	int rc = 0;

	for (size_t i = 0; i < diff->n + diff->n_same && rc == 0; i++) {
		struct diff_row *row = &diff->v[i];

		if (row->share <= DIFF_SHARE)
			continue;
		if (row->a && row->b)
			rc = judge_row(to, limit, row);
		else if (limit_is_of_sums(limit) && row_is_new(diff, row))
			rc = judge_single(to, limit, row);
	}
	return rc;
}

/* Spans, steps and kernels can have the same name: what is in both traces is judged, and what is in one only if that is all. */
static int judge_name(
	struct diff_judgements *to, const struct diff_limit *limit, const struct diff *diff)
{
	struct diff_row *single = NULL;
	size_t n_before = to->n;
	int rc = 0;

	for (size_t i = 0; i < diff->n + diff->n_same && rc == 0; i++) {
		struct diff_row *row = &diff->v[i];

		if (strcmp(row->name, limit->name) != 0)
			continue;
		if (row->a && row->b)
			rc = judge_row(to, limit, row);
		else if (!single || !single->b)
			single = row;
	}
	if (rc || to->n > n_before)
		return rc;
	return single ? judge_single(to, limit, single) : judge(to, limit, NULL, DIFF_METRICS);
}

/* A name that is not in both traces: from nothing to something is worse, without any test. */
static enum diff_outcome find_single_outcome(const struct diff_judgement *j)
{
	enum diff_metric metric = j->row ? j->metric : j->limit->metric;
	bool is_sum = metric == DIFF_TOTAL || metric == DIFF_COUNT;

	if (!j->row)
		return is_sum ? DIFF_ABSENT : DIFF_MISSING;
	if (metric == DIFF_RATE && j->row->a)
		return j->limit->limit < 1 ? DIFF_FAILED : DIFF_PASSED;
	if (j->row->a)
		return DIFF_ABSENT;
	if (metric == DIFF_RATE)
		return DIFF_PASSED;
	return is_sum ? DIFF_FAILED : DIFF_MISSING;
}

const uint64_t *diff_get_lost(const struct diff *diff, const struct diff_judgement *j)
{
	return j->row ? j->row->lost : diff->lost;
}

static enum diff_outcome find_outcome(const struct diff *diff, const struct diff_judgement *j)
{
	const struct diff_measure *m = j->row ? &j->row->measures[j->metric] : NULL;
	double worse;

	if (m ? m->verdict == DIFF_LOST
	      : is_of_events(j->limit->metric) && (diff->lost[0] || diff->lost[1]))
		return DIFF_UNCOMPARED;
	if (!m || !j->row->a || !j->row->b)
		return find_single_outcome(j);
	worse = j->metric == DIFF_RATE ? -m->change : m->change;
	if (worse <= j->limit->limit)
		return DIFF_PASSED;
	if (j->p < 0)
		return DIFF_UNTOLD;
	return j->p < DIFF_P ? DIFF_FAILED : DIFF_MAYBE;
}

int diff_judge(struct diff *diff, const struct diff_limit *limits, size_t n_limits,
	struct diff_judgements *out)
{
	_cleanup_free_ struct p_value *values = NULL;
	size_t n_values = 0;
	int rc = 0;

	*out = (struct diff_judgements){.v = NULL};
	for (size_t i = 0; i < n_limits && rc == 0; i++)
		rc = limits[i].name ? judge_name(out, &limits[i], diff)
				    : judge_large(out, &limits[i], diff);
	values = calloc(out->n + 1, sizeof *values);
	if (rc || !values)
		return -ENOMEM;
	for (size_t i = 0; i < out->n; i++)
		if (out->v[i].p >= 0)
			values[n_values++] = (struct p_value){out->v[i].p, &out->v[i].p};
	correct(values, n_values);
	for (size_t i = 0; i < out->n; i++) {
		struct diff_judgement *j = &out->v[i];

		j->outcome = find_outcome(diff, j);
		if (j->outcome == DIFF_FAILED)
			j->row->failed |= 1U << j->metric;
	}
	return 0;
}
