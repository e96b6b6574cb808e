/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes which functions ran, and in which ones threads waited: in the whole trace, and inside of
 * spans.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/functions.h"
#include "trace/report/text.h"
#include "trace/saturate.h"

#define FUNCTIONS_OF_SPAN 4

static double get_share(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

/* The most that a share of samples is off in 95 of 100 recordings. */
static double find_margin(uint64_t n, uint64_t of)
{
	double share = get_share(n, of);

	return of ? 1.96 * sqrt(share * (1 - share) / (double)of) : 0;
}

static const char *get_function(const struct text *t, uint32_t function)
{
	return names_get(&t->digest->view->stacks.texts, function);
}

static void put_function_row(struct text *t, const struct function_row *row)
{
	const struct function_list *ran = &t->functions->ran;

	page_put_duration(&t->page, row->self_ns);
	page_put_share(&t->page, get_share(row->n_self, ran->n_samples));
	page_put_share(&t->page, find_margin(row->n_self, ran->n_samples));
	page_put_share(&t->page, get_share(row->n_total, ran->n_samples));
	page_end_row(&t->page, get_function(t, row->function), NULL);
}

void text_put_functions(struct text *t)
{
	const struct function_list *ran = &t->functions->ran;
	size_t n_shown = text_count_shown(t, ran->n);
	char title[128];

	if (!ran->n_samples)
		return;
	snprintf(title, sizeof title,
		"functions that ran, %" PRIu64 " CPU samples; +- is the error of self, 95 %% sure",
		ran->n_samples);
	page_put_title(&t->page, title);
	page_put_head(&t->page, "self");
	page_put_head(&t->page, "self");
	page_put_head(&t->page, "+-");
	page_put_head(&t->page, "total");
	page_end_row(&t->page, "function", NULL);
	for (size_t i = 0; i < n_shown; i++)
		put_function_row(t, &ran->v[i]);
	text_put_rest(t, ran->n - n_shown, "function");
}

/* --- waiting ------------------------------------------------------------------------------- */

static void put_waiting_row(struct text *t, const struct function_row *row)
{
	const struct function_list *waited = &t->functions->waited;

	page_put_duration(&t->page, row->self_ns);
	page_put_share(&t->page, get_share((uint64_t)row->self_ns, (uint64_t)waited->ns));
	page_put_share(&t->page, get_share((uint64_t)row->total_ns, (uint64_t)waited->ns));
	page_put_count(&t->page, row->n_self);
	page_end_row(&t->page, get_function(t, row->function), NULL);
}

void text_put_waiting_functions(struct text *t)
{
	const struct function_list *waited = &t->functions->waited;
	size_t n_shown = text_count_shown(t, waited->n);

	if (!waited->n_samples)
		return;
	page_put_title(&t->page, "functions in which threads waited");
	page_put_head(&t->page, "self");
	page_put_head(&t->page, "self");
	page_put_head(&t->page, "total");
	page_put_head(&t->page, "waits");
	page_end_row(&t->page, "function", NULL);
	for (size_t i = 0; i < n_shown; i++)
		put_waiting_row(t, &waited->v[i]);
	text_put_rest(t, waited->n - n_shown, "function");
}

/* --- spans --------------------------------------------------------------------------------- */

/* Returns the time of which the span's functions are shares. Samples are a little off, too. */
static int64_t find_whole_ns(const struct span_functions *span)
{
	int64_t known_ns = add_saturated(span->ran.ns, span->waited.ns);

	return known_ns > span->wall_ns ? known_ns : span->wall_ns;
}

/*
 * Writes "61 % inflate_fast, 22 % blocked in read, 3 others": the functions of both lists with the
 * most time.
 */
static void write_functions(const struct text *t, const struct span_functions *span, FILE *out)
{
	const struct function_list *ran = &span->ran;
	const struct function_list *waited = &span->waited;
	size_t i = 0; /* places in the two lists */
	size_t k = 0;

	while (i + k < FUNCTIONS_OF_SPAN && (i < ran->n || k < waited->n)) {
		bool is_wait =
			i == ran->n || (k < waited->n && waited->v[k].self_ns > ran->v[i].self_ns);
		const struct function_row *row = is_wait ? &waited->v[k++] : &ran->v[i++];

		fprintf(out, "%s%.0f %% %s%s", i + k > 1 ? ", " : "",
			100 * get_share((uint64_t)row->self_ns, (uint64_t)find_whole_ns(span)),
			is_wait ? "blocked in " : "", get_function(t, row->function));
	}
	if (i + k < ran->n + waited->n)
		fprintf(out, ", %zu other%s", ran->n + waited->n - i - k,
			ran->n + waited->n - i - k == 1 ? "" : "s");
}

/* Returns the text of write_functions(); NULL: memory ran out. */
static char *list_functions(const struct text *t, const struct span_functions *span)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	if (!out)
		return NULL;
	write_functions(t, span, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_span_row(struct text *t, const struct span_functions *span)
{
	_cleanup_free_ char *functions = list_functions(t, span);
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s: %s", names_get(&t->digest->view->names, span->name),
		    functions ? functions : "") < 0)
		name = NULL;
	page_put_duration(&t->page, span->wall_ns);
	page_put_duration(&t->page, span->ran.ns);
	if (t->functions->waited.n_samples)
		page_put_duration(&t->page, span->waited.ns);
	page_put_count(&t->page, span->ran.n_samples);
	page_end_row(&t->page, name ? name : "", NULL);
}

void text_put_span_functions(struct text *t)
{
	const struct functions *f = t->functions;
	size_t n_shown = text_count_shown(t, f->n_spans);

	if (!f->n_spans)
		return;
	page_put_title(
		&t->page, "functions that ran inside of spans, as shares of the spans' time");
	page_put_head(&t->page, "total");
	page_put_head(&t->page, "cpu");
	if (f->waited.n_samples)
		page_put_head(&t->page, "blocked");
	page_put_head(&t->page, "samples");
	page_end_row(&t->page, "span: functions", NULL);
	for (size_t i = 0; i < n_shown; i++)
		put_span_row(t, &f->spans[i]);
	text_put_rest(t, f->n_spans - n_shown, "span");
}
