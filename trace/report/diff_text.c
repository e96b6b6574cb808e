/* SPDX-License-Identifier: Apache-2.0 */
/* Differences for a terminal; see diff_report.h. */
#include <math.h>
#include <string.h>

#include "trace/quantity.h"
#include "trace/report/diff.h"
#include "trace/report/diff_report.h"
#include "trace/report/output.h"
#include "trace/report/page.h"
#include "trace/saturate.h"

#define TOP 20
#define SMALL_CHANGE 0.0005 /* is printed as 0.0 % */

struct writing {
	struct page page;
	const struct diff *diff;
	const struct diff_options *options;
	bool has_marks; /* were written, and have to be explained */
};

static const char *const titles[] = {
	[LIST_SPANS] = "names",
	[LIST_KERNELS] = "kernels",
	[LIST_ASYNCS] = "async spans",
	[LIST_STEPS] = "steps",
};

static const char marks[] = {
	[DIFF_APPEARED] = ' ',
	[DIFF_VANISHED] = ' ',
	[DIFF_TOO_FEW] = '?',
	[DIFF_NOT_SURE] = '~',
	[DIFF_SURE] = '*',
};

/* --- cells --------------------------------------------------------------------------------- */

static void put_head(struct writing *w, const char *title)
{
	static const char *const heads[] = {
		"count A", "count B", "total", "p50 A", "p50 B", "change"};

	page_put_title(&w->page, title);
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		page_put_head(&w->page, heads[i]);
	page_put(&w->page, "  ");
	page_end_row(&w->page, "name", NULL);
}

/* "+12.3 %"; what is beyond a cell is some times as much. */
static void put_change(struct page *p, double change)
{
	char cell[PAGE_CELL_BYTES];

	if (!isfinite(change))
		snprintf(cell, sizeof cell, "from 0");
	else if (change >= 9.9995)
		snprintf(cell, sizeof cell, "%.3g x", fmin(change + 1, 1e9));
	else if (fabs(change) < SMALL_CHANGE)
		snprintf(cell, sizeof cell, "0.0 %%");
	else
		snprintf(cell, sizeof cell, "%+.1f %%", 100 * change);
	page_put(p, " %*s", PAGE_CELL, cell);
}

static void put_growth(struct page *p, int64_t ns)
{
	char duration[PAGE_CELL_BYTES];
	char cell[PAGE_CELL_BYTES + 1];

	snprintf(cell, sizeof cell, "%s%s", ns > 0 ? "+" : "", page_format_duration(duration, ns));
	page_put(p, " %*s", PAGE_CELL, cell);
}

static void put_row(struct writing *w, const struct diff_row *row)
{
	const struct diff_options *o = w->options;
	bool is_above = o->limit >= 0 && diff_is_above(row, o->limit);

	page_put_count(&w->page, row->a->count);
	page_put_count(&w->page, row->b->count);
	put_growth(&w->page, diff_get_growth(row));
	page_put_duration(&w->page, row->a->p50_ns);
	page_put_duration(&w->page, row->b->p50_ns);
	put_change(&w->page, diff_get_change(row));
	page_put(&w->page, " %c", marks[row->verdict]);
	page_end_row(&w->page, row->name, is_above ? "too much" : NULL);
	w->has_marks = true;
}

static void put_single(struct writing *w, const struct diff_row *row)
{
	const struct row *there = row->a ? row->a : row->b;

	page_put_count(&w->page, there->count);
	page_put_duration(&w->page, there->total_ns);
	page_put_duration(&w->page, there->p50_ns);
	page_end_row(&w->page, row->name, row->list == LIST_SPANS ? NULL : titles[row->list]);
}

/* --- lists --------------------------------------------------------------------------------- */

typedef void row_writer(struct writing *w, const struct diff_row *row);
typedef bool row_filter(const struct diff_row *row, int kind);

/* As many of those that |is_wanted| as are shown; the head comes before the first. */
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
		fprintf(w->page.out, "  … and %zu more name%s\n", n - n_most,
			n - n_most == 1 ? "" : "s");
}

static bool is_of_list(const struct diff_row *row, int list)
{
	return row->a && row->b && row->list == (enum digest_list)list;
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

/* --- the whole ----------------------------------------------------------------------------- */

static void put_trace(
	struct writing *w, const char *which, const char *path, const struct digest *g)
{
	char cell[PAGE_CELL_BYTES];

	page_put(&w->page, "%s: ", which);
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
}

static void put_legend(struct writing *w)
{
	page_end_line(&w->page);
	page_put_part(&w->page, "* durations differ, not by chance (p < 0.01)");
	page_put_part(&w->page, "~ may be chance");
	page_put_part(&w->page, "? too few");
	page_end_line(&w->page);
}

static void put_end(struct writing *w)
{
	size_t n = w->diff->n_same;

	if (w->has_marks)
		put_legend(w);
	if (!w->diff->n)
		fputs("\nno difference", w->page.out);
	else if (n)
		fputs("\nthe same", w->page.out);
	if (n || !w->diff->n)
		fprintf(w->page.out, ": %zu name%s\n", n, n == 1 ? "" : "s");
}

int diff_write_text(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out)
{
	static const enum digest_list lists[] = {LIST_STEPS, LIST_SPANS, LIST_KERNELS, LIST_ASYNCS};
	struct writing w = {.diff = diff, .options = options};

	page_init(&w.page, out, options->width, options->has_color);
	put_trace(&w, "A", options->path_a, a);
	put_trace(&w, "B", options->path_b, b);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		put_rows(&w, is_of_list, (int)lists[i], titles[lists[i]], put_head, put_row);
	put_rows(&w, has_verdict, DIFF_APPEARED, "only in B", put_single_head, put_single);
	put_rows(&w, has_verdict, DIFF_VANISHED, "only in A", put_single_head, put_single);
	put_end(&w);
	page_deinit(&w.page);
	return output_finish(out);
}
