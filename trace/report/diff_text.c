/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences of two traces for a terminal. */
#include <math.h>
#include <string.h>

#include "trace/quantity.h"
#include "trace/report/diff.h"
#include "trace/report/diff_report.h"
#include "trace/report/output.h"
#include "trace/report/page.h"
#include "trace/report/report.h"
#include "trace/saturate.h"

#define TOP 20
#define TOP_CHANGES 40 /* limit of listed changes; a name may have one for each metric */
#define SMALL_CHANGE 0.0005 /* smaller changes are printed as 0.0 % */
#define MAX_NAME 4096 /* limit of a name's columns in a sentence */

struct writing {
	struct page page;
	const struct diff *diff;
	const struct diff_options *options;
	bool has_marks; /* marks were written, and must be explained */
	bool has_losses; /* marks of DIFF_LOST were written */
};

/* The groups under which rows are listed, in this order. */
enum group {
	GROUP_STEPS,
	GROUP_REQUESTS,
	GROUP_NAMES,
	GROUP_KERNELS,
	GROUPS
};

static const char *const titles[] = {
	[GROUP_STEPS] = "steps",
	[GROUP_REQUESTS] = "requests: async spans, and spans outside of others",
	[GROUP_NAMES] = "names",
	[GROUP_KERNELS] = "kernels",
};

static const char *const remarks[] = {
	[LIST_SPANS] = NULL,
	[LIST_KERNELS] = "kernels",
	[LIST_ASYNCS] = "async spans",
	[LIST_STEPS] = "steps",
};

static const char marks[] = {
	[DIFF_APPEARED] = ' ',
	[DIFF_VANISHED] = ' ',
	[DIFF_TOO_FEW] = '?',
	[DIFF_LOST] = '!',
	[DIFF_NOT_SURE] = '~',
	[DIFF_SURE] = '*',
};

static enum group get_group(const struct diff_row *row)
{
	switch (row->list) {
	case LIST_STEPS:
		return GROUP_STEPS;
	case LIST_KERNELS:
		return GROUP_KERNELS;
	case LIST_SPANS:
	case LIST_ASYNCS:
	case DIGEST_LISTS:
		break;
	}
	return row->is_request ? GROUP_REQUESTS : GROUP_NAMES;
}

/* --- cells --------------------------------------------------------------------------------- */

/* Writes a change such as "+12.3 %"; beyond +999.9 % it is a factor: "101 x". */
static const char *format_change(char cell[PAGE_CELL_BYTES], double change)
{
	if (isnan(change))
		snprintf(cell, PAGE_CELL_BYTES, "-");
	else if (!isfinite(change))
		snprintf(cell, PAGE_CELL_BYTES, "from 0");
	else if (change >= 9.9995)
		snprintf(cell, PAGE_CELL_BYTES, "%.3g x", fmin(change + 1, 1e9));
	else if (fabs(change) < SMALL_CHANGE)
		snprintf(cell, PAGE_CELL_BYTES, "0.0 %%");
	else
		snprintf(cell, PAGE_CELL_BYTES, "%+.1f %%", 100 * change);
	return cell;
}

static const char *format_value(char cell[PAGE_CELL_BYTES], enum diff_metric metric, double value)
{
	if (isnan(value))
		return strcpy(cell, "-");
	if (metric == DIFF_COUNT)
		return page_format_count(cell, (uint64_t)value);
	if (metric != DIFF_RATE)
		return page_format_duration(
			cell, value < 9e18 ? (int64_t)llround(value) : INT64_MAX);
	if (value >= 9999.5)
		page_format_count(cell, (uint64_t)fmin(value, 1e18));
	else
		snprintf(cell, PAGE_CELL_BYTES, "%.4g", value);
	strcat(cell, "/s");
	return cell;
}

static void put_cell(struct page *p, const char *cell)
{
	page_put(p, " %*s", PAGE_CELL, cell);
}

/* Writes a change with its mark. */
static void put_change(struct page *p, const struct diff_measure *m)
{
	char cell[PAGE_CELL_BYTES];

	put_cell(p, format_change(cell, m->change));
	page_put(p, "%c", m->change == 0 || isnan(m->change) ? ' ' : marks[m->verdict]);
}

static void put_values(struct page *p, const struct diff_row *row, enum diff_metric metric)
{
	char cell[PAGE_CELL_BYTES];

	put_cell(p, format_value(cell, metric, row->measures[metric].a));
	put_cell(p, format_value(cell, metric, row->measures[metric].b));
}

/* --- sure changes -------------------------------------------------------------------------- */

static void put_sure_head(struct writing *w)
{
	page_put_title(&w->page, "beyond chance, most time lost or saved first");
	page_put(&w->page, "%-6s", "");
	page_put_head(&w->page, "A");
	page_put_head(&w->page, "B");
	page_put_head(&w->page, "change");
	page_end_row(&w->page, "name", NULL);
}

static void put_sure_metric(struct writing *w, const struct diff_row *row, enum diff_metric metric)
{
	char cell[PAGE_CELL_BYTES];

	page_put(&w->page, "%6s", diff_get_metric_name(metric));
	put_values(&w->page, row, metric);
	put_cell(&w->page, format_change(cell, row->measures[metric].change));
	page_end_row(&w->page, row->name, row->failed & 1U << metric ? "too much" : NULL);
}

static void put_sure(struct writing *w)
{
	size_t n_most = w->options->n_top ? w->options->n_top : TOP_CHANGES;
	size_t n = 0;

	for (size_t i = 0; i < w->diff->n; i++) {
		enum diff_metric metrics[DIFF_METRICS];
		size_t n_metrics = 0;

		if (w->diff->v[i].a && w->diff->v[i].b)
			n_metrics = diff_sort_metrics(w->diff, &w->diff->v[i], metrics);
		for (size_t k = 0; k < n_metrics; k++) {
			if (n++ == 0)
				put_sure_head(w);
			if (n <= n_most)
				put_sure_metric(w, &w->diff->v[i], metrics[k]);
		}
	}
	if (n > n_most)
		fprintf(w->page.out, "  … and %zu more change%s; --top %zu shows all\n", n - n_most,
			n - n_most == 1 ? "" : "s", n);
}

/* --- lists --------------------------------------------------------------------------------- */

static void put_head(struct writing *w, const char *title)
{
	static const char *const heads[] = {"change ", "p50 ", "p99 ", "count "};

	page_put_title(&w->page, title);
	page_put_head(&w->page, "total A");
	page_put_head(&w->page, "total B");
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		page_put(&w->page, " ");
		page_put_head(&w->page, heads[i]);
	}
	page_end_row(&w->page, "name", NULL);
}

static const enum diff_metric columns[] = {DIFF_TOTAL, DIFF_P50, DIFF_P99, DIFF_COUNT};
#define N_COLUMNS (sizeof columns / sizeof columns[0])

/*
 * Writes "* mean, max": the metrics without a column that changed beyond chance, so that a row has
 * no less information than the list above it.
 */
static const char *format_sure(
	const struct diff *diff, const struct diff_row *row, char *out, size_t n)
{
	enum diff_metric metrics[DIFF_METRICS];
	size_t n_metrics = diff_sort_metrics(diff, row, metrics);
	const char *between = row->failed ? "; * " : "* ";
	size_t n_out = (size_t)snprintf(out, n, "%s", row->failed ? "too much" : "");

	for (size_t i = 0; i < n_metrics; i++) {
		size_t k = 0;

		while (k < N_COLUMNS && columns[k] != metrics[i])
			k++;
		if (k < N_COLUMNS)
			continue;
		n_out += (size_t)snprintf(
			out + n_out, n - n_out, "%s%s", between, diff_get_metric_name(metrics[i]));
		between = ", ";
	}
	return n_out ? out : NULL;
}

static void put_row(struct writing *w, const struct diff_row *row)
{
	char remark[DIFF_METRICS * 8 + 16]; /* enough for all names of metrics */

	put_values(&w->page, row, DIFF_TOTAL);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		put_change(&w->page, &row->measures[columns[i]]);
		w->has_losses |= row->measures[columns[i]].verdict == DIFF_LOST;
	}
	page_end_row(&w->page, row->name, format_sure(w->diff, row, remark, sizeof remark));
	w->has_marks = true;
}

static void put_single(struct writing *w, const struct diff_row *row)
{
	const struct row *there = row->a ? row->a : row->b;

	page_put_count(&w->page, there->count);
	page_put_duration(&w->page, there->total_ns);
	if (there->n_whole)
		page_put_duration(&w->page, there->p50_ns);
	else
		page_put_head(&w->page, "-");
	page_end_row(&w->page, row->name, row->failed ? "too much" : remarks[row->list]);
}

typedef void row_writer(struct writing *w, const struct diff_row *row);
typedef bool row_filter(const struct diff_row *row, int kind);

/* Writes the rows that |is_wanted| accepts, up to the limit, with the head before the first one. */
static void put_rows(struct writing *w, row_filter *is_wanted, int kind, const char *title,
	void (*put_title)(struct writing *w, const char *title), row_writer *put)
{
	size_t n_most = w->options->n_top ? w->options->n_top : TOP;
	size_t n = 0;

	for (size_t i = 0; i < w->diff->n; i++) {
		if (!is_wanted(&w->diff->v[i], kind))
			continue;
		if (n++ == 0)
			put_title(w, title);
		if (n <= n_most)
			put(w, &w->diff->v[i]);
	}
	if (n > n_most)
		fprintf(w->page.out, "  … and %zu more name%s; --top %zu shows all\n", n - n_most,
			n - n_most == 1 ? "" : "s", n);
}

static bool is_of_group(const struct diff_row *row, int group)
{
	return row->a && row->b && get_group(row) == (enum group)group;
}

static bool has_verdict(const struct diff_row *row, int verdict)
{
	return row->verdict == (enum diff_verdict)verdict;
}

static void put_single_head(struct writing *w, const char *title)
{
	page_put_title(&w->page, title);
	page_put_head(&w->page, "count");
	page_put_head(&w->page, "total");
	page_put_head(&w->page, "p50");
	page_end_row(&w->page, "name", NULL);
}

/* --- functions ----------------------------------------------------------------------------- */

static void put_function_head(struct writing *w)
{
	static const char *const heads[] = {
		"self A", "self B", "change ", "total A", "total B", "change "};

	page_put_title(&w->page, "functions, by shares of the CPU samples");
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		page_put(&w->page, i % 3 == 2 ? " " : "");
		page_put_head(&w->page, heads[i]);
	}
	page_end_row(&w->page, "function", NULL);
}

static void put_shares(struct page *p, const struct diff_measure *m)
{
	page_put_share(p, m->a);
	page_put_share(p, m->b);
	put_change(p, m);
}

/* Writes the functions, or that only one trace has CPU samples. */
static void put_functions(struct writing *w)
{
	const struct diff_functions *f = &w->diff->functions;
	size_t n_most = w->options->n_top ? w->options->n_top : TOP;

	if (!f->n_samples[0] != !f->n_samples[1])
		fprintf(w->page.out, "\nonly %c has CPU samples: functions are not compared\n",
			f->n_samples[0] ? 'A' : 'B');
	if (!f->n)
		return;
	put_function_head(w);
	for (size_t i = 0; i < f->n && i < n_most; i++) {
		put_shares(&w->page, &f->v[i].self);
		put_shares(&w->page, &f->v[i].total);
		page_end_row(&w->page, f->v[i].name, NULL);
	}
	if (f->n > n_most)
		fprintf(w->page.out, "  … and %zu more function%s; --top %zu shows all\n",
			f->n - n_most, f->n - n_most == 1 ? "" : "s", f->n);
	w->has_marks = true;
}

/* --- the report ---------------------------------------------------------------------------- */

static void put_losses(struct writing *w, int side)
{
	uint64_t lost = w->diff->lost[side];
	uint64_t lost_asyncs = w->diff->lost_asyncs[side];

	if (lost)
		fprintf(w->page.out,
			"   %s events were lost: counts, rates and totals are not compared\n",
			quantity_count(lost).text);
	else if (lost_asyncs)
		fprintf(w->page.out,
			"   %s async spans were lost: their counts, rates and totals mean little\n",
			quantity_count(lost_asyncs).text);
}

static void put_trace(struct writing *w, int side, const char *path, const struct digest *g)
{
	char cell[PAGE_CELL_BYTES];

	page_put(&w->page, "%c: ", "AB"[side]);
	page_put_text(&w->page, path, 4096);
	page_end_line(&w->page);
	page_put(&w->page, "   %s",
		page_format_duration(cell, sub_saturated(g->end_ns, g->begin_ns)));
	page_put_part(&w->page, "spans %s on %s thread%s", quantity_count(g->totals.n_spans).text,
		quantity_count(g->totals.n_threads).text, g->totals.n_threads == 1 ? "" : "s");
	if (g->totals.n_device_spans)
		page_put_part(
			&w->page, "of devices %s", quantity_count(g->totals.n_device_spans).text);
	page_put_part(&w->page, "steps %s", quantity_count(g->totals.n_steps).text);
	page_put_part(&w->page, "dropped %s", quantity_count(g->totals.n_dropped).text);
	page_end_line(&w->page);
	put_losses(w, side);
	report_put_complete(g, "   ", w->page.out);
}

/* Writes the unit of work that totals and counts are divided by. */
static void put_unit(struct writing *w)
{
	const struct pace *pace = &w->diff->pace;

	switch (pace->unit) {
	case PACE_STEP:
	case PACE_REQUEST:
		page_put(&w->page, "changes of totals and counts are per %s of ",
			pace->unit == PACE_STEP ? "step" : "span");
		page_put_text(&w->page, pace->name, w->page.width / 3);
		page_put(&w->page, ": %s in A, ", quantity_count(pace->sides[0].n_units).text);
		page_put(&w->page, "%s in B", quantity_count(pace->sides[1].n_units).text);
		break;
	case PACE_SECOND:
		page_put(&w->page, "changes of totals and counts are per second");
		break;
	case PACE_TRACE:
		page_put(&w->page, "changes of totals and counts are those of the whole traces");
		break;
	}
	page_end_line(&w->page);
}

static void put_legend(struct writing *w)
{
	page_end_line(&w->page);
	if (w->diff->functions.n_tests)
		page_put_part(&w->page,
			"* beyond chance (p < 0.01, corrected for %s tests, and %s of functions)",
			quantity_count(w->diff->n_tests).text,
			quantity_count(w->diff->functions.n_tests).text);
	else
		page_put_part(&w->page, "* beyond chance (p < 0.01, corrected for %s tests)",
			quantity_count(w->diff->n_tests).text);
	page_put_part(&w->page, "~ may be chance");
	page_put_part(&w->page, "? too few spans");
	if (w->has_losses)
		page_put_part(&w->page, "! not compared: events were lost");
	page_end_line(&w->page);
}

static void put_end(struct writing *w)
{
	size_t n = w->diff->n_same;

	if (w->has_marks)
		put_legend(w);
	if (!w->diff->n && !w->diff->functions.n)
		fprintf(w->page.out, "\nno difference: %zu name%s\n", n, n == 1 ? "" : "s");
	else if (n)
		fprintf(w->page.out, "\nthe same: %zu name%s\n", n, n == 1 ? "" : "s");
}

int diff_write_text(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out)
{
	struct writing w = {.diff = diff, .options = options};

	page_init(&w.page, out, options->width, options->has_color);
	put_trace(&w, 0, options->path_a, a);
	put_trace(&w, 1, options->path_b, b);
	put_unit(&w);
	put_sure(&w);
	for (int i = 0; i < GROUPS; i++)
		put_rows(&w, is_of_group, i, titles[i], put_head, put_row);
	put_rows(&w, has_verdict, DIFF_APPEARED, "only in B", put_single_head, put_single);
	put_rows(&w, has_verdict, DIFF_VANISHED, "only in A", put_single_head, put_single);
	put_functions(&w);
	put_end(&w);
	page_deinit(&w.page);
	return output_finish(out);
}

static const char *get_unit_words(const struct diff *diff, enum diff_metric metric)
{
	if (metric != DIFF_TOTAL && metric != DIFF_COUNT)
		return "";
	switch (diff->pace.unit) {
	case PACE_STEP:
		return " a step";
	case PACE_REQUEST:
		return " a request";
	case PACE_SECOND:
		return " a second";
	case PACE_TRACE:
		break;
	}
	return "";
}

static void put_lost(struct page *p, const uint64_t lost[2])
{
	page_put(p, "not compared: %s events were lost in %s",
		quantity_count(lost[0] ? lost[0] : lost[1]).text, lost[0] ? "A" : "B");
	if (lost[0] && lost[1])
		page_put(p, ", and %s in B", quantity_count(lost[1]).text);
}

static void put_judged(struct page *p, const struct diff *diff, const struct diff_judgement *j)
{
	const struct diff_measure *m = &j->row->measures[j->metric];
	char before[PAGE_CELL_BYTES];
	char after[PAGE_CELL_BYTES];
	char change[PAGE_CELL_BYTES];

	page_put(p, "%s before, %s after: ", format_value(before, j->metric, m->a),
		format_value(after, j->metric, m->b));
	if (j->row->a)
		page_put(p, "%s%s", format_change(change, m->change),
			get_unit_words(diff, j->metric));
	else
		page_put(p, "new");
	page_put(p, "; the limit is %c%g %%", j->metric == DIFF_RATE ? '-' : '+',
		100 * j->limit->limit);
}

void diff_write_judgement(const struct diff *diff, const struct diff_judgement *j, FILE *out)
{
	struct page page;

	page_init(&page, out, 0, false);
	page_put(&page, "%s of \"", diff_get_metric_name(j->row ? j->metric : j->limit->metric));
	page_put_text(&page, j->row ? j->row->name : j->limit->name, MAX_NAME);
	page_put(&page, "\": ");
	if (j->outcome == DIFF_UNCOMPARED)
		put_lost(&page, diff_get_lost(diff, j));
	else
		put_judged(&page, diff, j);
	page_deinit(&page);
}
