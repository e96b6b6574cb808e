/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a summary's rows, and leaving some out; see summary.h. */
#include "trace/summary.h"

#include <stdlib.h>
#include <string.h>

#include "trace/space.h"

struct order {
	const struct names *names;
	enum summary_key key;
};

static int64_t get_number(const struct summary_row *row, enum summary_key key)
{
	switch (key) {
	case SUMMARY_SELF:
		return row->self_ns;
	case SUMMARY_TOTAL:
		return row->total_ns;
	case SUMMARY_COUNT:
		return (int64_t)row->count;
	case SUMMARY_P50:
		return row->p50_ns;
	case SUMMARY_P99:
		return row->p99_ns;
	case SUMMARY_MAX:
		return row->max_ns;
	case SUMMARY_NAME:
		return 0;
	}
	return 0;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct summary_row *a = left;
	const struct summary_row *b = right;
	const struct order *order = context;
	int64_t number_a = get_number(a, order->key);
	int64_t number_b = get_number(b, order->key);

	if (number_a != number_b)
		return number_a > number_b ? -1 : 1;
	if (order->key != SUMMARY_NAME && a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(names_get(order->names, a->name), names_get(order->names, b->name));
}

void summary_sort(struct summary *summary, enum summary_key key)
{
	struct order order = {&summary->plane->event_names, key};

	for (size_t i = 0; i < summary->n_lines; i++) {
		struct summary_line *line = &summary->lines[i];

		if (line->n_rows)
			qsort_r(line->rows, line->n_rows, sizeof *line->rows, compare_rows, &order);
	}
}

/* Each of the lists in turn: keeps what is wanted, in its order. */
void summary_filter(
	struct summary *summary, bool (*keep)(const char *name, void *context), void *context)
{
	const struct names *names = &summary->plane->event_names;
	size_t n_lines = 0;
	size_t n = 0;

	for (size_t i = 0; i < summary->n_lines; i++) {
		struct summary_line *line = &summary->lines[i];
		size_t n_rows = 0;

		for (size_t k = 0; k < line->n_rows; k++)
			if (keep(names_get(names, line->rows[k].name), context))
				line->rows[n_rows++] = line->rows[k];
		line->n_rows = n_rows;
		if (n_rows)
			summary->lines[n_lines++] = *line;
		else
			free(line->rows);
	}
	summary->n_lines = n_lines;
	for (size_t i = 0; i < summary->n_steps; i++)
		if (keep(names_get(names, summary->steps[i].name), context))
			summary->steps[n++] = summary->steps[i];
	summary->n_steps = n;
	n = 0;
	for (size_t i = 0; i < summary->n_counters; i++)
		if (keep(names_get(names, summary->counters[i].name), context))
			summary->counters[n++] = summary->counters[i];
	summary->n_counters = n;
	n = 0;
	for (size_t i = 0; i < summary->n_asyncs; i++)
		if (keep(names_get(names, summary->asyncs[i].name), context))
			summary->asyncs[n++] = summary->asyncs[i];
	summary->n_asyncs = n;
	n = 0;
	for (size_t i = 0; i < summary->n_flows; i++)
		if (keep(names_get(names, summary->flows[i].name), context))
			summary->flows[n++] = summary->flows[i];
	summary->n_flows = n;
}
