/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sentences about the differences between slow steps or requests and typical ones. */
#include <inttypes.h>
#include <stdlib.h>

#include "trace/quantity.h"
#include "trace/read/view.h"
#include "trace/report/cpu_shares.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"
#include "trace/report/slow.h"
#include "trace/report/text.h"

#define SHOWN_GROUPS 4
#define SHOWN_GROWN 4
#define SHOWN_FLOWS 2 /* limit of flows that are shown for a group */
#define SHOWN_OTHERS 3
#define MAX_CHAIN 8
#define MIN_GROWN 0.1 /* least share of the unit's growth that is reported */
#define MOST 0.5 /* least share of a span's growth that is reported as its cause */
#define RARE 0.1 /* largest share of typical units that have a rare span */

/* A sentence that is being written; its names may have any bytes. */
struct sentence {
	FILE *out;
	char *text;
	size_t n;
};

static bool sentence_begin(struct sentence *s)
{
	s->text = NULL;
	s->out = open_memstream(&s->text, &s->n);
	return s->out != NULL;
}

/* Writes the sentence behind |mark|, in lines of the page's width. */
static void sentence_end(struct sentence *s, struct page *p, const char *mark)
{
	fclose(s->out);
	if (s->text)
		page_put_sentence(p, mark, s->text);
	free(s->text);
}

static void put_duration(struct sentence *s, double ns)
{
	char cell[PAGE_CELL_BYTES];

	fputs(page_format_duration(cell, (int64_t)ns), s->out);
}

static void put_share(struct sentence *s, double share)
{
	double percent = 100 * share;

	fprintf(s->out, percent > 0 && percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

static const char *get_name(const struct text *t, uint32_t name)
{
	const char *text = names_get(&t->digest->view->names, name);

	return *text ? text : "(no name)";
}

/* --- spans that grew ----------------------------------------------------------------------- */

/* True for spans that slow units have, and typical ones hardly ever. */
static bool is_rare(const struct slow_group *group, uint32_t node)
{
	const struct slow_node *n = &group->nodes[node];

	return slow_get_share(group, n, SIDE_TYPICAL) <= RARE &&
	       slow_get_share(group, n, SIDE_SLOW) >=
		       2 * slow_get_share(group, n, SIDE_TYPICAL) + RARE;
}

static void put_wait_or_work(
	const struct text *t, struct sentence *s, const struct slow_group *group, uint32_t node)
{
	double self_ns = slow_get_self(group, &group->nodes[node], SIDE_SLOW);
	const struct cpu_part part = {group->nodes[node].name, true, self_ns};
	double cpu_ns;
	double error_ns;

	if (!t->slow->cpu || !cpu_shares_find(t->slow->cpu, &part, 1, &cpu_ns, &error_ns))
		return;
	if (cpu_ns + error_ns <= 0.25 * self_ns)
		fputs(" (mostly waiting)", s->out);
	else if (cpu_ns - error_ns >= 0.75 * self_ns)
		fputs(" (mostly working)", s->out);
}

/*
 * Writes "`lookup` takes 24.0 ms longer, in it `evict` 24.1 ms", down to the span that took the
 * time itself.
 */
static uint32_t put_chain(
	const struct text *t, struct sentence *s, const struct slow_group *group, uint32_t node)
{
	uint32_t cause = node;

	for (int i = 0; i < MAX_CHAIN; i++) {
		fprintf(s->out, i ? "`%s` " : "`%s` takes ", get_name(t, group->nodes[node].name));
		put_duration(s, slow_get_growth(group, node));
		fputs(i ? "" : " longer", s->out);
		if (!slow_list_grown(group, node, &cause, 1) ||
			slow_get_growth(group, cause) < MOST * slow_get_growth(group, node))
			break;
		fputs(", in it ", s->out);
		node = cause;
	}
	if (slow_get_self_growth(group, node) >= MOST * slow_get_growth(group, node))
		put_wait_or_work(t, s, group, node);
	return node;
}

static void put_rarity(
	const struct text *t, struct sentence *s, const struct slow_group *group, uint32_t node)
{
	const struct slow_node *n = &group->nodes[node];

	fprintf(s->out, "; `%s` runs in ", get_name(t, n->name));
	if (slow_get_share(group, n, SIDE_SLOW) < 0.995) {
		put_share(s, slow_get_share(group, n, SIDE_SLOW));
		fputs(" of the slow ones and in ", s->out);
	}
	if (n->n_units[SIDE_TYPICAL])
		put_share(s, slow_get_share(group, n, SIDE_TYPICAL));
	else
		fputs("none", s->out);
	fputs(" of the typical ones", s->out);
}

/* Writes the number of spans per unit, if more of them made the unit grow. */
static void put_calls(struct sentence *s, const struct slow_group *group, uint32_t node)
{
	const struct slow_node *n = &group->nodes[node];
	double slow = (double)n->n[SIDE_SLOW] / (double)slow_get_n_taken_apart(group, SIDE_SLOW);
	double typical =
		(double)n->n[SIDE_TYPICAL] / (double)slow_get_n_taken_apart(group, SIDE_TYPICAL);

	if (typical > 0 && slow >= 1.5 * typical && slow >= 1.5)
		fprintf(s->out, " (it runs %.3g times, typically %.3g)", slow, typical);
}

static void put_grown(
	struct text *t, const struct slow_group *group, uint32_t node, const char *lead)
{
	struct sentence s;
	uint32_t cause;

	if (!sentence_begin(&s))
		return;
	fputs(lead, s.out);
	cause = put_chain(t, &s, group, node);
	put_calls(&s, group, cause);
	if (is_rare(group, cause))
		put_rarity(t, &s, group, cause);
	sentence_end(&s, &t->page, "    ");
}

static size_t put_all_grown(struct text *t, const struct slow_group *group)
{
	uint32_t nodes[SHOWN_GROWN];
	size_t n = group->n_nodes ? slow_list_grown(group, 0, nodes, SHOWN_GROWN) : 0;
	double growth = slow_get_mean(group, SIDE_SLOW) - slow_get_mean(group, SIDE_TYPICAL);
	size_t n_told = 0;
	struct sentence s;

	for (size_t i = 0; i < n; i++)
		if (slow_get_growth(group, nodes[i]) >= MIN_GROWN * growth)
			put_grown(t, group, nodes[i], n_told++ ? "and " : "in slow ones ");
	if (!group->n_nodes || slow_get_self_growth(group, 0) < MIN_GROWN * growth ||
		!sentence_begin(&s))
		return n_told;
	fputs(n_told ? "and " : "in slow ones ", s.out);
	if (group->kind == SLOW_ASYNCS)
		fputs("the time outside of spans with its id is ", s.out);
	else
		fprintf(s.out, "`%s` itself takes ", get_name(t, group->name));
	put_duration(&s, slow_get_self_growth(group, 0));
	fputs(" longer", s.out);
	if (group->kind != SLOW_ASYNCS)
		put_wait_or_work(t, &s, group, 0);
	sentence_end(&s, &t->page, "    ");
	return n_told;
}

/* --- flows --------------------------------------------------------------------------------- */

/* Writes " (typically 1.0 ms)". */
static void put_typically(
	struct sentence *s, const struct slow_flow *flow, const double ns[SLOW_SIDES])
{
	if (!flow->n_units[SIDE_TYPICAL])
		return;
	fputs(" (typically ", s->out);
	put_duration(s, ns[SIDE_TYPICAL]);
	fputs(")", s->out);
}

static void put_flow(struct text *t, const struct slow_group *group, const struct slow_flow *flow)
{
	double share = (double)flow->n_units[SIDE_SLOW] / (double)group->n_examined[SIDE_SLOW];
	struct sentence s;

	if (!sentence_begin(&s))
		return;
	fprintf(s.out, "the flow `%s` ", get_name(t, flow->name));
	if (flow->into != ROW_OUTERMOST && flow->into != group->name)
		fprintf(s.out, "into `%s` ", get_name(t, flow->into));
	fputs("came from ", s.out);
	if (flow->from != ROW_OUTERMOST)
		fprintf(s.out, "`%s` on ", get_name(t, flow->from));
	fprintf(s.out, "%s, ", flow->track->name);
	put_duration(&s, flow->arrival_ns[SIDE_SLOW]);
	fprintf(s.out, " after `%s` began", get_name(t, group->name));
	put_typically(&s, flow, flow->arrival_ns);
	if (share < 0.995) {
		fputs(", in ", s.out);
		put_share(&s, share);
		fputs(" of the slow ones", s.out);
	}
	if (flow->from != ROW_OUTERMOST) {
		fprintf(s.out, "; `%s` took ", get_name(t, flow->from));
		put_duration(&s, flow->from_ns[SIDE_SLOW]);
		put_typically(&s, flow, flow->from_ns);
	}
	sentence_end(&s, &t->page, "    ");
}

static void put_flows(struct text *t, const struct slow_group *group)
{
	for (size_t i = 0; i < group->n_flows && i < SHOWN_FLOWS; i++)
		put_flow(t, group, &group->flows[i]);
}

/* --- waits, and what ran elsewhere --------------------------------------------------------- */

static void put_wait(struct text *t, const struct slow_group *group)
{
	double wait_ns;
	double error_ns;
	struct sentence s;

	if (!slow_find_wait(t->slow, group, &wait_ns, &error_ns) || !sentence_begin(&s))
		return;
	fputs("of the ", s.out);
	put_duration(&s, slow_get_mean(group, SIDE_SLOW));
	fputs(" the thread waits for ", s.out);
	put_duration(&s, wait_ns);
	fputs(" (± ", s.out);
	put_duration(&s, error_ns);
	fputs(")", s.out);
	sentence_end(&s, &t->page, "    ");
}

/* |many|: more than one span was open at a time in slow or typical units. */
static void put_open(struct sentence *s, double open, bool many)
{
	if (many)
		fprintf(s->out, "%.1f", open);
	else
		put_share(s, open > 1 ? 1 : open);
	fputs(many ? " at a time" : " of the time", s->out);
}

/* True for other units of the group itself, which the same cause may have slowed down. */
static bool is_peer(const struct slow_group *group, const struct slow_other *other)
{
	return other->name == group->name;
}

/*
 * Names the server that recorded the other span if several recorded its thread, which may even be
 * the thread of the unit.
 */
static void put_elsewhere(const struct text *t, struct sentence *s, const struct slow_other *other)
{
	const struct view *view = t->digest->view;

	fprintf(s->out, "meanwhile `%s` runs on %s", get_name(t, other->name), other->track->name);
	if (view_track_has_sources(view, other->track))
		fprintf(s->out, " in %s", view_track_get_source(view, other->track));
}

static void put_other(
	struct text *t, const struct slow_group *group, const struct slow_other *other)
{
	struct sentence s;
	bool many;

	if (!sentence_begin(&s))
		return;
	if (is_peer(group, other))
		fprintf(s.out, "meanwhile other `%s` run", get_name(t, other->name));
	else
		put_elsewhere(t, &s, other);
	many = other->open[SIDE_SLOW] > 1.05 || other->open[SIDE_TYPICAL] > 1.05;
	fputs(", ", s.out);
	put_open(&s, other->open[SIDE_SLOW], many);
	fputs("; while typical ones run, ", s.out);
	put_open(&s, other->open[SIDE_TYPICAL], many);
	sentence_end(&s, &t->page, "    ");
}

static bool is_in_another(const struct slow_group *group, const struct slow_other *other)
{
	for (size_t k = 0; k < group->n_others; k++)
		if (group->others[k].name == other->around && group->others[k].name != other->name)
			return true;
	return false;
}

static void put_others(struct text *t, const struct slow_group *group)
{
	size_t n_told = 0;

	for (size_t i = 0; i < group->n_others && n_told < SHOWN_OTHERS; i++) {
		const struct slow_other *other = &group->others[i];

		if (is_peer(group, other) || is_in_another(group, other))
			continue;
		put_other(t, group, other);
		n_told++;
	}
	for (size_t i = 0; i < group->n_others; i++)
		if (is_peer(group, &group->others[i]))
			put_other(t, group, &group->others[i]);
}

/* --- groups -------------------------------------------------------------------------------- */

static void put_group_head(struct text *t, const struct slow_group *group)
{
	char label[TEXT_LABEL_BYTES];
	struct sentence s;

	if (!sentence_begin(&s))
		return;
	fprintf(s.out, "`%s`", get_name(t, group->name));
	if (group->plane != SLOW_ALL_PLANES)
		fprintf(s.out, " of %s", text_label_plane(t, group->plane, label));
	fprintf(s.out, ": %s of ", quantity_count(group->n_units[SIDE_SLOW]).text);
	fprintf(s.out, "%s %s slow (", quantity_count(group->n).text,
		group->n_units[SIDE_SLOW] == 1 ? "is" : "are");
	put_duration(&s, (double)group->limit_ns);
	fputs(" or longer); slow ones take ", s.out);
	put_duration(&s, slow_get_mean(group, SIDE_SLOW));
	fputs(" on average, typical ones ", s.out);
	put_duration(&s, slow_get_mean(group, SIDE_TYPICAL));
	sentence_end(&s, &t->page, "  ");
}

static void put_group(struct text *t, const struct slow_group *group)
{
	put_group_head(t, group);
	put_all_grown(t, group);
	put_flows(t, group);
	put_wait(t, group);
	put_others(t, group);
}

void text_put_slow(struct text *t)
{
	size_t n_most = t->options->n_top ? t->options->n_top : SHOWN_GROUPS;
	size_t n = 0;

	for (size_t i = 0; i < t->slow->n_groups && n < n_most; i++) {
		const struct slow_group *group = &t->slow->groups[i];

		if (!slow_is_told(t->slow, group))
			continue;
		if (n++ == 0)
			page_put_title(&t->page,
				"slow steps, requests and async spans, and what is different in them");
		put_group(t, group);
	}
}
