/* SPDX-License-Identifier: Apache-2.0 */
/* Writes as JSON why slow units were slow. */
#include "trace/json.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/cpu_shares.h"
#include "trace/report/digest.h"
#include "trace/report/report_json.h"
#include "trace/report/slow.h"

#define MAX_GROWN 8 /* limit of spans below one parent */
#define MAX_DEPTH 16
#define MIN_GROWN 0.01 /* least share of the unit's growth */

static void put_sides(struct report_json *w, const struct slow_group *group)
{
	static const char *const keys[] = {[SIDE_SLOW] = "slow", [SIDE_TYPICAL] = "typical"};

	for (int side = 0; side < SLOW_SIDES; side++) {
		json_begin_object(&w->j, keys[side]);
		json_uint(&w->j, "count", group->n_units[side]);
		json_double(&w->j, "mean_ns", slow_get_mean(group, side));
		json_uint(&w->j, "looked_at", group->n_examined[side]);
		json_end_object(&w->j);
	}
}

/* Writes the path of a node: the names from the unit's own down to the node's own. */
static void put_path(struct report_json *w, const struct slow_group *group, uint32_t node)
{
	uint32_t path[MAX_DEPTH];
	size_t n = 0;

	for (uint32_t i = node; i != SLOW_NO_NODE && n < MAX_DEPTH; i = group->nodes[i].parent)
		path[n++] = i;
	json_begin_list(&w->j, "path");
	while (n--)
		json_text(&w->j, NULL, report_json_get_name(w, group->nodes[path[n]].name));
	json_end_list(&w->j);
}

static void put_node(struct report_json *w, const struct slow_group *group, uint32_t node)
{
	const struct slow_node *n = &group->nodes[node];

	json_begin_object(&w->j, NULL);
	json_text(&w->j, "name", report_json_get_name(w, n->name));
	put_path(w, group, node);
	json_double(&w->j, "slow_ns", slow_get_total(group, n, SIDE_SLOW));
	json_double(&w->j, "typical_ns", slow_get_total(group, n, SIDE_TYPICAL));
	json_double(&w->j, "slow_self_ns", slow_get_self(group, n, SIDE_SLOW));
	json_double(&w->j, "typical_self_ns", slow_get_self(group, n, SIDE_TYPICAL));
	json_double(&w->j, "slow_share", slow_get_share(group, n, SIDE_SLOW));
	json_double(&w->j, "typical_share", slow_get_share(group, n, SIDE_TYPICAL));
	json_end_object(&w->j);
}

/* Writes the spans that grew, and below each of them the inner spans that grew, down to a limit. */
static void put_grown(
	struct report_json *w, const struct slow_group *group, uint32_t parent, int depth)
{
	uint32_t nodes[MAX_GROWN];
	size_t n = slow_list_grown(group, parent, nodes, MAX_GROWN);

	for (size_t i = 0; i < n; i++) {
		if (slow_get_growth(group, nodes[i]) < MIN_GROWN * slow_get_growth(group, 0))
			return;
		put_node(w, group, nodes[i]);
		if (depth + 1 < MAX_DEPTH)
			put_grown(w, group, nodes[i], depth + 1);
	}
}

static void put_flows(struct report_json *w, const struct slow_group *group)
{
	static const char *const keys[] = {[SIDE_SLOW] = "slow", [SIDE_TYPICAL] = "typical"};

	json_begin_list(&w->j, "flows");
	for (size_t i = 0; i < group->n_flows; i++) {
		const struct slow_flow *flow = &group->flows[i];

		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", report_json_get_name(w, flow->name));
		json_text(&w->j, "into",
			flow->into == ROW_OUTERMOST ? NULL : report_json_get_name(w, flow->into));
		json_text(&w->j, "from",
			flow->from == ROW_OUTERMOST ? NULL : report_json_get_name(w, flow->from));
		json_text(&w->j, "thread", flow->track->name);
		for (int side = 0; side < SLOW_SIDES; side++) {
			json_begin_object(&w->j, keys[side]);
			json_uint(&w->j, "count", flow->n_units[side]);
			json_double(&w->j, "arrival_ns", flow->arrival_ns[side]);
			json_double(&w->j, "from_ns", flow->from_ns[side]);
			json_end_object(&w->j);
		}
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_others(struct report_json *w, const struct slow_group *group)
{
	json_begin_list(&w->j, "meanwhile");
	for (size_t i = 0; i < group->n_others; i++) {
		const struct slow_other *other = &group->others[i];

		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", report_json_get_name(w, other->name));
		json_text(&w->j, "thread", other->track->name);
		json_text(&w->j, "around",
			other->around == ROW_OUTERMOST ? NULL
						       : report_json_get_name(w, other->around));
		json_double(&w->j, "slow_open", other->open[SIDE_SLOW]);
		json_double(&w->j, "typical_open", other->open[SIDE_TYPICAL]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

static void put_wait(struct report_json *w, const struct slow *s, const struct slow_group *group)
{
	double wait_ns;
	double error_ns;

	if (slow_find_wait(s, group, &wait_ns, &error_ns)) {
		json_double(&w->j, "wait_ns", wait_ns);
		json_double(&w->j, "wait_error_ns", error_ns);
	} else {
		json_nothing(&w->j, "wait_ns");
		json_nothing(&w->j, "wait_error_ns");
	}
}

static void put_group(struct report_json *w, const struct slow *s, const struct slow_group *group)
{
	static const char *const kinds[] = {
		[SLOW_STEPS] = "step", [SLOW_REQUESTS] = "request", [SLOW_ASYNCS] = "async"};

	json_begin_object(&w->j, NULL);
	json_text(&w->j, "kind", kinds[group->kind]);
	json_text(&w->j, "name", report_json_get_name(w, group->name));
	report_json_put_process_of(
		w, group->plane == SLOW_ALL_PLANES ? NULL : w->digest->planes[group->plane].plane);
	json_uint(&w->j, "count", group->n);
	json_int(&w->j, "p50_ns", group->p50_ns);
	json_int(&w->j, "limit_ns", group->limit_ns);
	put_sides(w, group);
	json_begin_list(&w->j, "grew");
	if (group->n_nodes)
		put_grown(w, group, SLOW_NO_NODE, 0);
	json_end_list(&w->j);
	put_wait(w, s, group);
	put_others(w, group);
	put_flows(w, group);
	json_end_object(&w->j);
}

static void put_cpu_shares(struct report_json *w, const struct slow *s)
{
	const struct rows *spans = &w->digest->lists[LIST_SPANS];
	double share;
	double error;

	json_begin_list(&w->j, "cpu_shares");
	for (size_t i = 0; i < spans->n && s->cpu; i++) {
		if (!cpu_shares_get(s->cpu, spans->v[i].name, &share, &error))
			continue;
		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", report_json_get_name(w, spans->v[i].name));
		json_double(&w->j, "share", share);
		json_double(&w->j, "error", error);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

void report_json_put_slow(struct report_json *w)
{
	const struct slow *s = w->slow;
	size_t n_most = report_json_count_shown(w, s->n_groups);
	size_t n = 0;

	json_begin_list(&w->j, "slow");
	for (size_t i = 0; i < s->n_groups && n < n_most; i++) {
		if (!slow_is_told(s, &s->groups[i]))
			continue;
		put_group(w, s, &s->groups[i]);
		n++;
	}
	json_end_list(&w->j);
	put_cpu_shares(w, s);
}
