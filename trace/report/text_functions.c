/* SPDX-License-Identifier: Apache-2.0 */
/* Writes which functions ran, by CPU samples: in the whole trace, and inside of spans. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/functions.h"
#include "trace/report/text.h"

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
	const struct functions *f = t->functions;

	page_put_duration(&t->page, (int64_t)row->n_self * f->period_ns);
	page_put_share(&t->page, get_share(row->n_self, f->n_samples));
	page_put_share(&t->page, find_margin(row->n_self, f->n_samples));
	page_put_share(&t->page, get_share(row->n_total, f->n_samples));
	page_end_row(&t->page, get_function(t, row->function), NULL);
}

void text_put_functions(struct text *t)
{
	const struct functions *f = t->functions;
	size_t n_shown = text_count_shown(t, f->n);
	char title[128];

	if (!f->n_samples)
		return;
	snprintf(title, sizeof title,
		"functions that ran, by %" PRIu64
		" CPU samples; +- is the error of self in 95 %% of cases",
		f->n_samples);
	page_put_title(&t->page, title);
	page_put_head(&t->page, "self");
	page_put_head(&t->page, "self");
	page_put_head(&t->page, "+-");
	page_put_head(&t->page, "total");
	page_end_row(&t->page, "function", NULL);
	for (size_t i = 0; i < n_shown; i++)
		put_function_row(t, &f->v[i]);
	text_put_rest(t, f->n - n_shown, "function");
}

/* Returns "61 % inflate_fast, 22 % memcpy, 3 others"; NULL: memory ran out. */
static char *list_functions(const struct text *t, const struct span_functions *span)
{
	size_t n_shown = span->n < FUNCTIONS_OF_SPAN ? span->n : FUNCTIONS_OF_SPAN;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	if (!out)
		return NULL;
	for (size_t i = 0; i < n_shown; i++)
		fprintf(out, "%s%.0f %% %s", i ? ", " : "",
			100 * get_share(span->v[i].n_self, span->n_samples),
			get_function(t, span->v[i].function));
	if (span->n > n_shown)
		fprintf(out, ", %zu other%s", span->n - n_shown, span->n - n_shown == 1 ? "" : "s");
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
	page_put_duration(&t->page, (int64_t)span->n_samples * t->functions->period_ns);
	page_put_count(&t->page, span->n_samples);
	page_end_row(&t->page, name ? name : "", NULL);
}

void text_put_span_functions(struct text *t)
{
	const struct functions *f = t->functions;
	size_t n_shown = text_count_shown(t, f->n_spans);

	if (!f->n_spans)
		return;
	page_put_title(&t->page, "functions that ran inside of spans");
	page_put_head(&t->page, "cpu");
	page_put_head(&t->page, "samples");
	page_end_row(&t->page, "span: functions", NULL);
	for (size_t i = 0; i < n_shown; i++)
		put_span_row(t, &f->spans[i]);
	text_put_rest(t, f->n_spans - n_shown, "span");
}
