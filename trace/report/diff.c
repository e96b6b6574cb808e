/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two digests: pairs their rows, measures them, and sorts them. */
#include "trace/report/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/model/names.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/diff_test.h"
#include "trace/saturate.h"

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

static bool rows_are_same(const struct row *a, const struct row *b)
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

/* Maps each name of the view to the index of its row + 1, or 0 if it has none. */
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

/* Names whose spans are all steps, in both traces, are compared as steps only. */
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

static int diff_reserve_rows(struct diff *diff, const struct digest *a, const struct digest *b)
{
	size_t n = 1;

	for (int i = 0; i < DIGEST_LISTS; i++)
		n += a->lists[i].n + b->lists[i].n;
	diff->v = calloc(n, sizeof *diff->v);
	return diff->v ? 0 : -ENOMEM;
}

/* --- measuring ----------------------------------------------------------------------------- */

double diff_find_change(double a, double b)
{
	if (a == b)
		return 0;
	return a == 0 ? INFINITY : b / a - 1;
}

bool diff_metric_is_of_events(enum diff_metric metric)
{
	return metric == DIFF_TOTAL || metric == DIFF_COUNT || metric == DIFF_RATE;
}

/* Returns NaN for durations if all spans were cut. */
static double row_get_metric(
	const struct row *row, const struct pace_side *pace, enum diff_metric metric)
{
	double count = row ? (double)row_count_begun(row) : 0;

	if (!row)
		return diff_metric_is_of_events(metric) ? 0 : NAN;
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

		m->a = row_get_metric(row->a, a, metric);
		m->b = row_get_metric(row->b, b, metric);
		m->change = diff_find_change(m->a / per_a, m->b / per_b);
		m->p = -1;
		m->p_corrected = -1;
		m->verdict = DIFF_TOO_FEW;
	}
	row->growth_ns =
		row->measures[DIFF_TOTAL].b / b->units - row->measures[DIFF_TOTAL].a / a->units;
}

/* Returns roughly the time per unit of work that the metric's change costs or saves. */
static double diff_get_weight(
	const struct diff *diff, const struct diff_row *row, enum diff_metric metric)
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

/* --- correction ---------------------------------------------------------------------------- */

/* Longer steps lower the rate of all spans in them; only the rates of steps and requests count. */
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
	row->is_same = row->verdict != DIFF_SURE && rows_are_same(row->a, row->b);
}

static int diff_conclude(struct diff *diff)
{
	_cleanup_free_ struct diff_p_value *values =
		calloc(diff->n * DIFF_METRICS + 1, sizeof *values);

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < diff->n; i++)
		for (int k = 0; k < DIFF_METRICS; k++) {
			struct diff_measure *m = &diff->v[i].measures[k];

			if (diff->v[i].a && diff->v[i].b && m->p >= 0)
				values[diff->n_tests++] =
					(struct diff_p_value){m->p, &m->p_corrected};
		}
	diff_correct_p_values(values, diff->n_tests);
	for (size_t i = 0; i < diff->n; i++)
		if (diff->v[i].a && diff->v[i].b)
			row_conclude(diff, &diff->v[i]);
	return 0;
}

/* --- order --------------------------------------------------------------------------------- */

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

/* --- the comparison ------------------------------------------------------------------------ */

/* Adds up the busy time of all programs and devices. */
static double find_busy_ns(const struct digest *g)
{
	double busy_ns = 0;

	for (size_t i = 0; i < g->view->n_origins; i++)
		busy_ns += (double)g->processes[i].busy.busy_ns;
	return fmax(busy_ns, 1);
}

/*
 * Adds up a stat of all planes that counts losses. Only files of earlier versions have the stat for
 * crowded async spans.
 */
static uint64_t digest_count_stat(const struct digest *g, const char *key)
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

/*
 * Overwritten events of a recorder count if the digest begins before |complete_ns|, since when
 * none are missing.
 */
static void diff_read_losses(struct diff *diff, int side)
{
	const struct digest *g = diff->pace.sides[side].digest;
	const struct report_totals *t = &g->totals;
	uint64_t kept =
		t->n_spans + t->n_instants + t->n_asyncs + t->n_flow_marks + t->n_counter_samples;
	uint64_t crowded = digest_count_stat(g, "ptap_lost_async_crowded");
	uint64_t lost = t->n_dropped > crowded ? t->n_dropped - crowded : 0;

	if (g->begin_ns < g->complete_ns)
		lost += digest_count_stat(g, "ptap_overwritten");
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

static bool row_is_unit(const struct diff *diff, const struct diff_row *row)
{
	return diff->pace.name && strcmp(diff->pace.name, row->name) == 0 &&
	       (diff->pace.unit == PACE_STEP ? row->list == LIST_STEPS : row->is_request);
}

static void row_mark_lost(struct diff_row *row, enum diff_metric metric)
{
	row->measures[metric].p = -1;
	row->measures[metric].verdict = DIFF_LOST;
}

/* If units of work were lost, no metric that is divided by them is known. */
static void diff_find_losses(struct diff *diff)
{
	uint64_t lost_units[2] = {0, 0};

	for (int side = 0; side < 2; side++)
		diff_read_losses(diff, side);
	for (size_t i = 0; i < diff->n; i++)
		for (int side = 0; side < 2 && row_is_unit(diff, &diff->v[i]); side++)
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

static void diff_measure_all(struct diff *diff, struct diff_testing *t)
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
		if (diff_row_is_tested(row))
			diff_test(t, place++, row);
	}
	diff_find_losses(diff);
}

static int diff_compare(struct diff *diff, struct diag *d)
{
	struct diff_testing testing = {.diff = diff};
	int r = diff_testing_make(&testing, d);

	if (r == 0)
		diff_measure_all(diff, &testing);
	diff_testing_deinit(&testing);
	return r ? r : diff_conclude(diff);
}

static int diff_find(
	struct digest *a, struct digest *b, const char *per, struct diff *out, struct diag *d)
{
	int r = pace_make(a, b, per, &out->pace, d);

	if (r)
		return r;
	if (digest_gather_steps(a) || digest_gather_steps(b) || diff_reserve_rows(out, a, b))
		return -ENOMEM;
	for (int i = 0; i < DIGEST_LISTS; i++)
		if (compare_list(out, a, b, (enum digest_list)i))
			return -ENOMEM;
	r = diff_compare(out, d);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, compare_rows);
	for (; out->n && out->v[out->n - 1].is_same; out->n--)
		out->n_same++;
	return r;
}

int diff_make(struct digest *a, struct digest *b, const char *per, struct diff *out, struct diag *d)
{
	int r;

	*out = (struct diff){.v = NULL};
	r = diff_find(a, b, per, out, d);
	if (r == 0)
		r = diff_functions_make(&out->pace, &out->functions, d);
	a->totals.n_cpu_samples = out->functions.n_samples[0];
	b->totals.n_cpu_samples = out->functions.n_samples[1];
	if (r && !(d && d->text[0]))
		return diag_set(d, r, "no comparison: %s", errno_words(r));
	return r;
}

void diff_deinit(struct diff *diff)
{
	free(diff->v);
	diff_functions_deinit(&diff->functions);
	pace_deinit(&diff->pace);
	*diff = (struct diff){.v = NULL};
}
