/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up spans and ends of flows by name. */
#include "trace/report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/model/names.h"
#include "trace/read/cursor.h"
#include "trace/saturate.h"

static void row_deinit(struct row *row)
{
	sample_deinit(&row->durations);
	free(row->slowest);
}

void rows_deinit(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		row_deinit(&rows->v[i]);
	free(rows->v);
	name_map_deinit(&rows->places);
	*rows = (struct rows){.v = NULL};
}

/* --- adding -------------------------------------------------------------------------------- */

static struct row *get_row(struct rows *rows, uint32_t name)
{
	int64_t place;

	if (grow(&rows->v, &rows->n_allocated, rows->n + 1))
		return NULL;
	place = name_map_put(&rows->places, name);
	if (place < 0)
		return NULL;
	if ((size_t)place == rows->n)
		rows->v[rows->n++] = (struct row){.name = name, .min_ns = INT64_MAX};
	return &rows->v[place];
}

/* Adds the duration of a whole span; that of a cut one is unknown. */
static int row_add_whole(struct row *row, int64_t duration_ns)
{
	row->n_whole++;
	row->whole_ns = add_saturated(row->whole_ns, duration_ns);
	row->min_ns = duration_ns < row->min_ns ? duration_ns : row->min_ns;
	row->max_ns = duration_ns > row->max_ns ? duration_ns : row->max_ns;
	return sample_add(&row->durations, duration_ns);
}

int64_t rows_add(struct rows *rows, const struct item *item)
{
	struct row *row = get_row(rows, item->name);

	if (!row || (item_is_whole(item) && row_add_whole(row, item->duration_ns)))
		return -ENOMEM;
	row->count++;
	row->n_unfinished += item->is_unfinished;
	row->n_began_before += item->is_started_before;
	row->total_ns = add_saturated(row->total_ns, item->duration_ns);
	row->self_ns = add_saturated(row->self_ns, item->duration_ns);
	return row - rows->v;
}

static void keep_slow(struct row *row, const struct slow_step *step)
{
	size_t i = row->n_slowest;

	while (i > 0 && row->slowest[i - 1].duration_ns < step->duration_ns)
		i--;
	if (i == ROW_SLOWEST)
		return;
	row->n_slowest += row->n_slowest < ROW_SLOWEST;
	memmove(&row->slowest[i + 1], &row->slowest[i], (row->n_slowest - i - 1) * sizeof *step);
	row->slowest[i] = *step;
}

int rows_add_step(struct rows *rows, const struct item *item)
{
	const struct slow_step step = {item->step_num, item->start_ns, item->duration_ns};
	int64_t place = rows_add(rows, item);
	struct row *row;

	if (place < 0)
		return -ENOMEM;
	row = &rows->v[place];
	row->n_steps++;
	if (!row->slowest)
		row->slowest = calloc(ROW_SLOWEST, sizeof *row->slowest);
	if (!row->slowest)
		return -ENOMEM;
	if (item_is_whole(item))
		keep_slow(row, &step);
	return 0;
}

static int take_row(struct rows *rows, struct row *from)
{
	struct row *row = get_row(rows, from->name);

	if (!row)
		return -ENOMEM;
	row->n_tracks++;
	if (!row->count || from->around == ROW_OUTERMOST)
		row->around = from->around;
	row->count += from->count;
	row->n_whole += from->n_whole;
	row->n_unfinished += from->n_unfinished;
	row->n_began_before += from->n_began_before;
	row->n_steps += from->n_steps;
	row->n_flow_marks += from->n_flow_marks;
	row->total_ns = add_saturated(row->total_ns, from->total_ns);
	row->self_ns = add_saturated(row->self_ns, from->self_ns);
	row->whole_ns = add_saturated(row->whole_ns, from->whole_ns);
	row->min_ns = from->min_ns < row->min_ns ? from->min_ns : row->min_ns;
	row->max_ns = from->max_ns > row->max_ns ? from->max_ns : row->max_ns;
	return sample_take(&row->durations, &from->durations);
}

int rows_take(struct rows *rows, struct rows *from)
{
	int r = 0;

	for (size_t i = 0; i < from->n && r == 0; i++)
		r = take_row(rows, &from->v[i]);
	return r;
}

/* --- after all spans were added ------------------------------------------------------------ */

/* Clamps a percentile: the middle of a bucket can lie beyond all its values. */
static int64_t row_clamp(const struct row *row, int64_t ns)
{
	if (ns < row->min_ns)
		return row->min_ns;
	return ns > row->max_ns ? row->max_ns : ns;
}

void rows_finish(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct row *row = &rows->v[i];

		if (!row->n_whole)
			continue;
		row->p50_ns = row_clamp(row, sample_percentile(&row->durations, 50));
		row->p90_ns = row_clamp(row, sample_percentile(&row->durations, 90));
		row->p99_ns = row_clamp(row, sample_percentile(&row->durations, 99));
		row->p999_ns = row_clamp(row, sample_permille(&row->durations, 999));
	}
}

void rows_trim(struct rows *rows)
{
	struct row *v = rows->n ? reallocarray(rows->v, rows->n, sizeof *v) : NULL;

	if (v) {
		rows->v = v;
		rows->n_allocated = rows->n;
	}
	name_map_deinit(&rows->places);
}

void rows_keep(struct rows *rows, const uint8_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!wanted || wanted[rows->v[i].name])
			rows->v[n++] = rows->v[i];
		else
			row_deinit(&rows->v[i]);
	}
	rows->n = n;
	name_map_deinit(&rows->places);
}

uint64_t row_count_begun(const struct row *row)
{
	return row->count - row->n_began_before;
}

bool row_key_is_of_whole(enum row_key key)
{
	return key == ROW_MEAN || key == ROW_P50 || key == ROW_P99 || key == ROW_P999 ||
	       key == ROW_MAX;
}

int64_t row_get(const struct row *row, enum row_key key)
{
	switch (key) {
	case ROW_SELF:
		return row->self_ns;
	case ROW_TOTAL:
		return row->total_ns;
	case ROW_COUNT:
		return (int64_t)row->count;
	case ROW_MEAN:
		return row->n_whole ? row->whole_ns / (int64_t)row->n_whole : 0;
	case ROW_P50:
		return row->p50_ns;
	case ROW_P99:
		return row->p99_ns;
	case ROW_P999:
		return row->p999_ns;
	case ROW_MAX:
		return row->max_ns;
	case ROW_NAME:
		break;
	}
	return 0;
}

struct order {
	const struct names *names;
	enum row_key key;
};

static int compare_rows_by_key(const void *left, const void *right, void *context)
{
	const struct row *a = left;
	const struct row *b = right;
	const struct order *order = context;
	int64_t number_a = row_get(a, order->key);
	int64_t number_b = row_get(b, order->key);

	if (number_a != number_b)
		return number_a > number_b ? -1 : 1;
	if (order->key != ROW_NAME && a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(names_get(order->names, a->name), names_get(order->names, b->name));
}

void rows_sort(struct rows *rows, enum row_key key, const struct names *names)
{
	struct order order = {names, key};

	if (rows->n)
		qsort_r(rows->v, rows->n, sizeof *rows->v, compare_rows_by_key, &order);
	name_map_deinit(&rows->places);
}

/* --- ends of flows ------------------------------------------------------------------------- */

void flows_deinit(struct flows *flows)
{
	free(flows->v);
	name_map_deinit(&flows->places);
	*flows = (struct flows){.v = NULL};
}

int flows_add(struct flows *flows, const struct item *item)
{
	int64_t place;

	if (grow(&flows->v, &flows->n_allocated, flows->n + 1))
		return -ENOMEM;
	place = name_map_put(&flows->places, item->name);
	if (place < 0)
		return -ENOMEM;
	if ((size_t)place == flows->n)
		flows->v[flows->n++] = (struct flow_ends){.name = item->name};
	flows->v[place].n_out += item->flow_out != 0;
	flows->v[place].n_in += item->flow_in != 0;
	return 0;
}

void flows_keep(struct flows *flows, const uint8_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < flows->n; i++)
		if (!wanted || wanted[flows->v[i].name])
			flows->v[n++] = flows->v[i];
	flows->n = n;
	name_map_deinit(&flows->places);
}
