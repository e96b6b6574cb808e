/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables of names: spans, kernels, launchers, async spans, steps, flows and counters. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "trace/quantity.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/cpu_shares.h"
#include "trace/report/digest.h"
#include "trace/report/launches.h"
#include "trace/report/report.h"
#include "trace/report/slow.h"
#include "trace/report/text.h"

#define BAR_COLUMNS 7
#define MAX_SLOW 8 /* limit of steps that are shown for a name */

struct column {
	const char *head;
	enum row_key key;
	/* least page width for the column; a column that rows are sorted by is always there */
	size_t from_width;
	bool has_bar;
};

#define MAX_COLUMNS 9

struct table {
	struct column columns[MAX_COLUMNS]; /* ends with a column without a head */
	const struct rows *rows;
	enum row_key sort; /* the sort key, if it has a column */
	size_t n_shown;
	int64_t longest_ns; /* longest self time of a row, for bars */
	const struct cpu_shares *cpu; /* NULL: work and waiting are in one table */
	bool has_p999; /* a row has enough spans for the 99.9th percentile */
	bool has_waits; /* the table has the rows that wait, else all others */
};

static const struct column name_columns[MAX_COLUMNS] = {
	{"self", ROW_SELF, 0, true},
	{"count", ROW_COUNT, 0, false},
	{"total", ROW_TOTAL, 0, false},
	{"mean", ROW_MEAN, 98, false},
	{"p50", ROW_P50, 0, false},
	{"p99", ROW_P99, 0, false},
	{"p99.9", ROW_P999, 98, false},
	{"max", ROW_MAX, 89, false},
};

static const struct column async_columns[MAX_COLUMNS] = {
	{"total", ROW_TOTAL, 0, false},
	{"count", ROW_COUNT, 0, false},
	{"mean", ROW_MEAN, 0, false},
	{"p50", ROW_P50, 0, false},
	{"p99", ROW_P99, 0, false},
	{"p99.9", ROW_P999, 0, false},
	{"max", ROW_MAX, 0, false},
};

static const struct column step_columns[MAX_COLUMNS] = {
	{"count", ROW_COUNT, 0, false},
	{"mean", ROW_MEAN, 0, false},
	{"p50", ROW_P50, 0, false},
	{"p99", ROW_P99, 0, false},
	{"p99.9", ROW_P999, 0, false},
	{"max", ROW_MAX, 0, false},
};

/* The words for the sort key in a title. */
static const char *const orders[] = {
	[ROW_SELF] = "by self time",
	[ROW_TOTAL] = "by total time",
	[ROW_COUNT] = "by count",
	[ROW_MEAN] = "by mean",
	[ROW_P50] = "by p50",
	[ROW_P99] = "by p99",
	[ROW_P999] = "by p99.9",
	[ROW_MAX] = "by max",
	[ROW_NAME] = "in alphabetical order",
};

/* --- a table ------------------------------------------------------------------------------- */

static bool is_shown(const struct page *p, const struct table *table, const struct column *c)
{
	size_t from_width = c->from_width;

	if (c->key == ROW_P999 && !table->has_p999)
		return false;
	/* If there is room for one of them, the 99.9th percentile is preferred to the mean. */
	if (c->key == ROW_MEAN && from_width && table->has_p999)
		from_width += PAGE_CELL + 1;
	return p->width >= from_width || c->key == table->sort;
}

static void put_heads(struct page *p, const struct table *table)
{
	for (const struct column *c = table->columns; c->head; c++) {
		if (!is_shown(p, table, c))
			continue;
		page_put_head(p, c->head);
		if (c->has_bar)
			page_put(p, "%*s", BAR_COLUMNS + 1, "");
	}
	page_end_row(p, "name", NULL);
}

static bool rows_have_p999(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].n_whole >= ROW_P999_FEWEST)
			return true;
	return false;
}

static int64_t find_longest(const struct rows *rows)
{
	int64_t longest_ns = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].self_ns > longest_ns)
			longest_ns = rows->v[i].self_ns;
	return longest_ns;
}

/* Writes a bar of a row's self time; a negative one has no bar. */
static void put_bar(struct page *p, const struct table *table, const struct row *row)
{
	double longest = (double)table->longest_ns;

	page_put_bar(p, longest > 0 ? (double)row->self_ns / longest : 0, BAR_COLUMNS);
}

static void put_cells(struct page *p, const struct table *table, const struct row *row)
{
	for (const struct column *c = table->columns; c->head; c++) {
		int64_t value = row_get(row, c->key);

		if (!is_shown(p, table, c))
			continue;
		if (c->key == ROW_COUNT)
			page_put_count(p, (uint64_t)value);
		else if ((!row->n_whole && row_key_is_of_whole(c->key)) ||
			 (c->key == ROW_P999 && row->n_whole < ROW_P999_FEWEST))
			page_put_head(p, "-");
		else
			page_put_duration(p, value);
		if (c->has_bar)
			put_bar(p, table, row);
	}
}

/* |label| is the row's thread or program; "" if there is one only. */
static void put_row(
	struct text *t, const struct table *table, const struct row *row, const char *label)
{
	char remark[TEXT_LABEL_BYTES + TEXT_CUTS_BYTES] = "";

	text_format_cuts(row, remark);
	snprintf(remark + strlen(remark), sizeof remark - strlen(remark), "%s%s",
		*remark && *label ? " " : "", label);
	put_cells(&t->page, table, row);
	page_end_row(
		&t->page, names_get(&t->digest->view->names, row->name), *remark ? remark : NULL);
}

/* Rows of flow marks only are left out: they have no time, and are in the list of flows. */
static bool has_row(const struct table *table, size_t i)
{
	if (table->rows->v[i].n_flow_marks == table->rows->v[i].count)
		return false;
	return !table->cpu ||
	       cpu_shares_is_wait(table->cpu, table->rows->v[i].name) == table->has_waits;
}

static void put_table(struct text *t, const struct table *table)
{
	size_t n = 0;

	put_heads(&t->page, table);
	for (size_t i = 0; i < table->rows->n; i++)
		if (has_row(table, i) && n++ < table->n_shown)
			put_row(t, table, &table->rows->v[i], "");
	text_put_rest(t, n > table->n_shown ? n - table->n_shown : 0, "name");
}

static struct table make_table(
	const struct text *t, const struct column columns[MAX_COLUMNS], const struct rows *rows)
{
	struct table table = {.rows = rows, .sort = t->options->sort};

	memcpy(table.columns, columns, sizeof table.columns);
	table.n_shown = text_count_shown(t, rows->n);
	table.longest_ns = find_longest(rows);
	table.has_p999 = rows_have_p999(rows);
	return table;
}

/* --- lists of the whole trace -------------------------------------------------------------- */

static void put_list(struct text *t, const char *what, enum digest_list list)
{
	struct table table = make_table(t, name_columns, &t->digest->lists[list]);
	char title[64];

	if (!table.rows->n)
		return;
	snprintf(title, sizeof title, "%s %s", what, orders[t->options->sort]);
	page_put_title(&t->page, title);
	put_table(t, &table);
}

/* True if the table has a row. */
static bool has_rows(const struct table *table)
{
	for (size_t i = 0; i < table->rows->n; i++)
		if (has_row(table, i))
			return true;
	return false;
}

/* Work and waiting have tables of their own, if they can be told apart. */
void text_put_names(struct text *t)
{
	struct table table = make_table(t, name_columns, &t->digest->lists[LIST_SPANS]);
	char title[64];

	table.cpu = t->slow->cpu;
	for (int waits = 0; waits < 2; waits++) {
		table.has_waits = waits;
		if (!has_rows(&table) || (waits && !table.cpu))
			continue;
		snprintf(title, sizeof title, "%s %s", waits ? "names that mostly wait," : "names",
			orders[t->options->sort]);
		page_put_title(&t->page, title);
		put_table(t, &table);
	}
}

void text_put_kernels(struct text *t)
{
	put_list(t, "kernels", LIST_KERNELS);
}

void text_put_launches(struct text *t)
{
	static const char *const heads[] = {"time", "of all", "kernels", "launches"};
	const struct launcher_list *l = t->launches;
	size_t n_shown = text_count_shown(t, l->names.n_texts);
	struct page *p = &t->page;

	/* There is no table if the launchers of all kernels are unknown. */
	if (!n_shown || (l->names.n_texts == 1 && strcmp(l->names.texts[0], LAUNCHES_UNKNOWN) == 0))
		return;
	page_put_title(p, "kernels by the operator or span that launched them");
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		page_put_head(p, heads[i]);
	page_end_row(p, "name", NULL);
	for (size_t i = 0; i < n_shown; i++) {
		page_put_duration(p, l->v[i].device_ns);
		page_put_share(p, (double)l->v[i].device_ns / (double)l->device_ns);
		page_put_count(p, l->v[i].n_kernels);
		page_put_count(p, l->v[i].n_launches);
		page_end_row(p, names_get(&l->names, l->v[i].name), NULL);
	}
	text_put_rest(t, l->names.n_texts - n_shown, "name");
}

void text_put_asyncs(struct text *t)
{
	struct table table = make_table(t, async_columns, &t->digest->lists[LIST_ASYNCS]);

	if (!table.rows->n)
		return;
	page_put_title(&t->page, "async spans");
	put_table(t, &table);
}

void text_put_each_thread(struct text *t)
{
	const struct digest *g = t->digest;

	for (size_t i = 0; i < g->n_tracks && t->options->by_thread; i++) {
		const struct digest_track *track = &g->tracks[i];
		struct table table = make_table(t, name_columns, &track->rows);
		bool has_sources = view_track_has_sources(g->view, track->track);
		char about[128];

		snprintf(about, sizeof about, " (%" PRId64 ")%s%.60s: %s spans",
			text_get_tid(track->track), has_sources ? ", " : "",
			has_sources ? view_track_get_source(g->view, track->track) : "",
			quantity_count(track->n_of_kind[DIGEST_SPAN]).text);
		page_end_line(&t->page);
		page_put(&t->page, "thread ");
		page_put_text(&t->page, track->track->name,
			t->page.width - t->page.column - strlen(about));
		page_put(&t->page, "%s", about);
		page_end_line(&t->page);
		put_table(t, &table);
	}
}

/* --- steps --------------------------------------------------------------------------------- */

static void put_slow(struct text *t, size_t plane, const struct row *row)
{
	int64_t limit_ns = slow_find_step_limit(t->slow, plane, row, t->options->slow);
	uint64_t n = sample_count_above(&row->durations, (double)limit_ns - 1);
	char cell[PAGE_CELL_BYTES];

	if (!n || !row->p50_ns)
		return;
	fprintf(t->page.out, "           %s %s slow (%s or longer):\n", quantity_count(n).text,
		n == 1 ? "is" : "are", page_format_duration(cell, limit_ns));
	for (size_t i = 0; i < row->n_slowest && i < MAX_SLOW; i++) {
		const struct slow_step *step = &row->slowest[i];

		if (step->duration_ns < limit_ns)
			break;
		page_put(&t->page, "%*s", PAGE_CELL + 1, "");
		page_put_duration(&t->page, step->duration_ns);
		fprintf(t->page.out, " %5.1f × the median: step %" PRId64 ", at %s\n",
			(double)step->duration_ns / (double)row->p50_ns, step->number,
			page_format_duration(cell, step->start_ns));
		t->page.column = 0;
	}
	if (n > MAX_SLOW)
		fprintf(t->page.out, "           … and %s more\n",
			quantity_count(n - MAX_SLOW).text);
}

static size_t count_planes_with_steps(const struct digest *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_planes; i++)
		n += g->planes[i].steps.n > 0;
	return n;
}

void text_put_steps(struct text *t)
{
	const struct digest *g = t->digest;
	size_t n_planes = count_planes_with_steps(g);
	struct table table = {.n_shown = 0};
	char label[TEXT_LABEL_BYTES];
	size_t n = 0;

	if (!n_planes)
		return;
	memcpy(table.columns, step_columns, sizeof step_columns);
	for (size_t i = 0; i < g->n_planes; i++)
		table.has_p999 = table.has_p999 || rows_have_p999(&g->planes[i].steps);
	page_put_title(&t->page, "steps");
	put_heads(&t->page, &table);
	for (size_t i = 0; i < g->n_planes; i++) {
		const struct rows *steps = &g->planes[i].steps;

		for (size_t k = 0; k < steps->n && n + k < text_get_most(t); k++) {
			put_row(t, &table, &steps->v[k],
				n_planes > 1 ? text_label_plane(t, i, label) : "");
			put_slow(t, i, &steps->v[k]);
		}
		n += steps->n;
	}
	text_put_rest(t, n - text_count_shown(t, n), "name");
}

/* --- flows and counters -------------------------------------------------------------------- */

static const char *get_name(const struct text *t, uint32_t name)
{
	return names_get(&t->digest->view->names, name);
}

static void put_flow_heads(struct text *t)
{
	page_put_title(&t->page, "flows");
	page_put_head(&t->page, "out");
	page_put_head(&t->page, "in");
	page_end_row(&t->page, "name", NULL);
}

static size_t count_planes_with_flows(const struct digest *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_planes; i++)
		n += g->planes[i].flows.n > 0;
	return n;
}

void text_put_flows(struct text *t)
{
	const struct digest *g = t->digest;
	size_t n_planes = count_planes_with_flows(g);
	char label[TEXT_LABEL_BYTES];
	size_t n = 0;

	if (!n_planes)
		return;
	put_flow_heads(t);
	for (size_t i = 0; i < g->n_planes; i++) {
		const struct flows *flows = &g->planes[i].flows;

		for (size_t k = 0; k < flows->n && n + k < text_get_most(t); k++) {
			page_put_count(&t->page, flows->v[k].n_out);
			page_put_count(&t->page, flows->v[k].n_in);
			page_end_row(&t->page, get_name(t, flows->v[k].name),
				n_planes > 1 ? text_label_plane(t, i, label) : NULL);
		}
		n += flows->n;
	}
	text_put_rest(t, n - text_count_shown(t, n), "name");
}

static void put_counter_heads(struct text *t)
{
	static const char *const heads[] = {"min", "mean", "max", "last"};

	page_put_title(&t->page, "counters");
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		page_put_head(&t->page, heads[i]);
	page_put(&t->page, "%*s", COUNTER_SLOTS + 1, "");
	page_end_row(&t->page, "name", NULL);
}

static void put_counter(struct text *t, const struct gauge *c, const char *label)
{
	double values[COUNTER_SLOTS];

	for (size_t i = 0; i < COUNTER_SLOTS; i++)
		values[i] = c->ns_of_slot[i] > 0 ? c->slots[i] : NAN;
	page_put_number(&t->page, c->min);
	page_put_number(&t->page, c->mean);
	page_put_number(&t->page, c->max);
	page_put_number(&t->page, c->last);
	page_put_sparkline(&t->page, values, COUNTER_SLOTS);
	page_end_row(&t->page, get_name(t, c->name), label);
}

static size_t count_planes_with_counters(const struct digest *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_planes; i++)
		n += g->planes[i].counters.n > 0;
	return n;
}

void text_put_counters(struct text *t)
{
	const struct digest *g = t->digest;
	size_t n_planes = count_planes_with_counters(g);
	char label[TEXT_LABEL_BYTES];
	size_t n = 0;

	if (!n_planes)
		return;
	put_counter_heads(t);
	for (size_t i = 0; i < g->n_planes; i++) {
		const struct gauges *counters = &g->planes[i].counters;

		for (size_t k = 0; k < counters->n && n + k < text_get_most(t); k++)
			put_counter(t, &counters->v[k],
				n_planes > 1 ? text_label_plane(t, i, label) : NULL);
		n += counters->n;
	}
	text_put_rest(t, n - text_count_shown(t, n), "counter");
}
