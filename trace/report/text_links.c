/* SPDX-License-Identifier: Apache-2.0 */
/* Flows and counters of each plane; see text.h. */
#include <math.h>

#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/text.h"

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
