/* SPDX-License-Identifier: Apache-2.0 */
/* Differences; see diff.h. */
#include "trace/report/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/names.h"
#include "trace/read/view.h"
#include "trace/report/rank_sum.h"
#include "trace/saturate.h"

/* --- what is compared ---------------------------------------------------------------------- */

double diff_get_change(const struct diff_row *row)
{
	if (!row->a || !row->b || row->a->p50_ns == row->b->p50_ns)
		return 0;
	if (row->a->p50_ns == 0)
		return INFINITY;
	return (double)row->b->p50_ns / (double)row->a->p50_ns - 1;
}

int64_t diff_get_growth(const struct diff_row *row)
{
	return sub_saturated(row->b ? row->b->total_ns : 0, row->a ? row->a->total_ns : 0);
}

bool diff_is_above(const struct diff_row *row, double limit)
{
	return row->verdict == DIFF_SURE && row->direction > 0 && diff_get_change(row) > limit;
}

bool diff_is_untold(const struct diff_row *row, double limit)
{
	return row->verdict == DIFF_TOO_FEW && diff_get_change(row) > limit;
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->count == b->count && a->total_ns == b->total_ns && a->p50_ns == b->p50_ns &&
	       a->p99_ns == b->p99_ns && a->max_ns == b->max_ns;
}

/* --- rows ---------------------------------------------------------------------------------- */

static int judge(struct diff_row *row, struct row *a, struct row *b)
{
	struct rank_sum test;
	int rc = rank_sum_test(&a->durations, &b->durations, &test);

	row->p = test.p;
	row->direction = test.direction;
	if (row->p < 0)
		row->verdict = DIFF_TOO_FEW;
	else
		row->verdict = row->p < DIFF_P ? DIFF_SURE : DIFF_NOT_SURE;
	return rc;
}

static int add(
	struct diff *diff, enum digest_list list, const char *name, struct row *a, struct row *b)
{
	struct diff_row row = {.list = list, .name = name, .a = a, .b = b, .p = -1};
	int rc = 0;

	diff->n_compared += a && b;
	diff->n_steps_compared += a && b && list == LIST_STEPS;
	if (a && b && is_same(a, b)) {
		diff->n_same++;
		return 0;
	}
	if (a && b)
		rc = judge(&row, a, b);
	else
		row.verdict = a ? DIFF_VANISHED : DIFF_APPEARED;
	diff->v[diff->n++] = row;
	return rc;
}

/* Of each of the view's names, its row in the list plus 1; 0: it has none. */
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
	int rc = places && is_seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < rows_a->n && rc == 0; i++) {
		const char *name = names_get(&a->view->names, rows_a->v[i].name);
		uint32_t in_b = names_find(&b->view->names, name);
		uint32_t place = in_b == NAMES_NONE ? 0 : places[in_b];
		struct row *row_b = place ? &rows_b->v[place - 1] : NULL;

		if (place)
			is_seen[place - 1] = 1;
		if (!is_left_out(list, &rows_a->v[i], row_b))
			rc = add(diff, list, name, &rows_a->v[i], row_b);
	}
	for (size_t i = 0; i < rows_b->n && rc == 0; i++)
		if (!is_seen[i] && !is_left_out(list, NULL, &rows_b->v[i]))
			rc = add(diff, list, names_get(&b->view->names, rows_b->v[i].name), NULL,
				&rows_b->v[i]);
	return rc;
}

/* --- the whole ----------------------------------------------------------------------------- */

/* Steps come first. */
static int get_rank(enum digest_list list)
{
	return list == LIST_STEPS ? -1 : (int)list;
}

static int compare_rows(const void *left, const void *right)
{
	const struct diff_row *a = left;
	const struct diff_row *b = right;
	double growth_a = fabs((double)diff_get_growth(a));
	double growth_b = fabs((double)diff_get_growth(b));

	if (a->list != b->list)
		return get_rank(a->list) - get_rank(b->list);
	if (growth_a != growth_b)
		return growth_a > growth_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int make_room(struct diff *diff, const struct digest *a, const struct digest *b)
{
	size_t n = 1;

	for (int i = 0; i < DIGEST_LISTS; i++)
		n += a->lists[i].n + b->lists[i].n;
	diff->v = calloc(n, sizeof *diff->v);
	return diff->v ? 0 : -ENOMEM;
}

int diff_make(struct digest *a, struct digest *b, struct diff *out)
{
	*out = (struct diff){.v = NULL};
	if (digest_gather_steps(a) || digest_gather_steps(b) || make_room(out, a, b))
		return -ENOMEM;
	for (int i = 0; i < DIGEST_LISTS; i++)
		if (compare_list(out, a, b, (enum digest_list)i))
			return -ENOMEM;
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, compare_rows);
	return 0;
}

void diff_deinit(struct diff *diff)
{
	free(diff->v);
	*diff = (struct diff){.v = NULL};
}
