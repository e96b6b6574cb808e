/* SPDX-License-Identifier: Apache-2.0 */
/* Applies limits to a comparison. */
#include "trace/report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/report/diff_test.h"

static int add_judgement(struct diff_judgements *to, const struct diff_limit *limit,
	struct diff_row *row, enum diff_metric metric)
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
	int r = 0;

	if (limit->metric != DIFF_USUAL)
		return add_judgement(to, limit, row, limit->metric);
	for (size_t i = 0; i < sizeof usual / sizeof usual[0] && r == 0; i++)
		r = add_judgement(to, limit, row, usual[i]);
	return r;
}

/*
 * A name is not new if the first trace has it in another list, for example as a span instead of a
 * step.
 */
static bool row_is_new(const struct diff *diff, const struct diff_row *row)
{
	if (row->a)
		return false;
	for (size_t i = 0; i < diff->n + diff->n_same; i++)
		if (diff->v[i].a && strcmp(diff->v[i].name, row->name) == 0)
			return false;
	return true;
}

/* A new name can be compared by total and count only: these were 0 in the first trace. */
static bool limit_is_of_sums(const struct diff_limit *limit)
{
	return limit->metric == DIFF_USUAL || limit->metric == DIFF_TOTAL ||
	       limit->metric == DIFF_COUNT;
}

static int judge_single(
	struct diff_judgements *to, const struct diff_limit *limit, struct diff_row *row)
{
	return add_judgement(
		to, limit, row, limit->metric == DIFF_USUAL ? DIFF_TOTAL : limit->metric);
}

/* Judges all names with a large share of the time in one of the traces. */
static int judge_large(
	struct diff_judgements *to, const struct diff_limit *limit, const struct diff *diff)
{
	int r = 0;

	for (size_t i = 0; i < diff->n + diff->n_same && r == 0; i++) {
		struct diff_row *row = &diff->v[i];

		if (row->share <= DIFF_SHARE)
			continue;
		if (row->a && row->b)
			r = judge_row(to, limit, row);
		else if (limit_is_of_sums(limit) && row_is_new(diff, row))
			r = judge_single(to, limit, row);
	}
	return r;
}

/*
 * Spans, steps and kernels can have the same name. Rows that are in both traces are judged. If
 * there are none, a row that is in one trace only is judged.
 */
static int judge_name(
	struct diff_judgements *to, const struct diff_limit *limit, const struct diff *diff)
{
	struct diff_row *single = NULL;
	size_t n_before = to->n;
	int r = 0;

	for (size_t i = 0; i < diff->n + diff->n_same && r == 0; i++) {
		struct diff_row *row = &diff->v[i];

		if (strcmp(row->name, limit->name) != 0)
			continue;
		if (row->a && row->b)
			r = judge_row(to, limit, row);
		else if (!single || !single->b)
			single = row;
	}
	if (r || to->n > n_before)
		return r;
	return single ? judge_single(to, limit, single)
		      : add_judgement(to, limit, NULL, DIFF_METRICS);
}

/*
 * Judges a name that is in one trace only, or in none, without a statistical test: a name that is
 * only in the second trace has a worse total and count.
 */
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
	      : diff_metric_is_of_events(j->limit->metric) && (diff->lost[0] || diff->lost[1]))
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
	_cleanup_free_ struct diff_p_value *values = NULL;
	size_t n_values = 0;
	int r = 0;

	*out = (struct diff_judgements){.v = NULL};
	for (size_t i = 0; i < n_limits && r == 0; i++)
		r = limits[i].name ? judge_name(out, &limits[i], diff)
				   : judge_large(out, &limits[i], diff);
	values = calloc(out->n + 1, sizeof *values);
	if (r || !values)
		return -ENOMEM;
	for (size_t i = 0; i < out->n; i++)
		if (out->v[i].p >= 0)
			values[n_values++] = (struct diff_p_value){out->v[i].p, &out->v[i].p};
	diff_correct_p_values(values, n_values);
	for (size_t i = 0; i < out->n; i++) {
		struct diff_judgement *j = &out->v[i];

		j->outcome = find_outcome(diff, j);
		if (j->outcome == DIFF_FAILED)
			j->row->failed |= 1U << j->metric;
	}
	return 0;
}
