/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what an event means: a span, an instant or a sample; a step; the end of a flow; and
 * which of its stats are arguments.
 */
#include "trace/read/cursor_item.h"

#include <errno.h>

#include "base/grow.h"
#include "trace/read/cursor.h"
#include "trace/read/event.h"
#include "trace/read/flow_uses.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* --- marks --------------------------------------------------------------------------------- */

/* The numbers of an event's stats that are not arguments. */
struct marks {
	uint64_t n_seen; /* a bit for each role */
	uint64_t value[ROLE_CONSUMER + 1];
};

static bool has(const struct marks *m, enum archive_role role)
{
	return m->n_seen >> role & 1;
}

static void note(struct marks *m, enum archive_role role, const struct archive_stat *stat)
{
	if (stat->type != STAT_INT64 && stat->type != STAT_UINT64)
		return;
	m->n_seen |= UINT64_C(1) << role;
	m->value[role] = stat->value.u64;
}

/*
 * Makes the flow's id in the view, never 0. Ids of proftap, of type 0, hold between processes and
 * machines; others count something in one process.
 */
static uint64_t make_flow(const struct cursor *c, uint64_t type, uint64_t id)
{
	bool is_everywhere = type == 0 && c->host->is_ours;
	uint64_t scope = is_everywhere ? 0 : (uint64_t)(c->host - c->view->hosts) + 1;
	uint64_t flow = flow_id_mix(id + flow_id_mix(type + flow_id_mix(scope)));

	return flow ? flow : 1;
}

#define TYPE_CORRELATION 9 /* GpuLaunch, of tsl/profiler/lib/context_types.h */

static void set_flows(const struct cursor *c, const struct marks *m, struct item *item)
{
	bool is_device = view_get_origin(c->view, c->track)->is_device;

	if (has(m, ROLE_PRODUCER))
		item->flow_out =
			make_flow(c, m->value[ROLE_PRODUCER_TYPE], m->value[ROLE_PRODUCER]);
	if (has(m, ROLE_CONSUMER))
		item->flow_in = make_flow(c, m->value[ROLE_CONSUMER_TYPE], m->value[ROLE_CONSUMER]);
	if (!has(m, ROLE_CORRELATION) || !m->value[ROLE_CORRELATION])
		return;
	if (is_device && !item->flow_in)
		item->flow_in = make_flow(c, TYPE_CORRELATION, m->value[ROLE_CORRELATION]);
	else if (!is_device && !item->flow_out)
		item->flow_out = make_flow(c, TYPE_CORRELATION, m->value[ROLE_CORRELATION]);
}

static void set_kind(
	const struct cursor *c, const struct marks *m, bool has_duration, struct item *item)
{
	item->is_unfinished = m->value[ROLE_UNFINISHED] != 0;
	item->is_started_before = m->value[ROLE_STARTED_BEFORE] != 0;
	item->is_step = has(m, ROLE_ROOT) && has(m, ROLE_STEP_NUM);
	item->step_num = (int64_t)m->value[ROLE_STEP_NUM];
	if (c->track->kind == TRACK_COUNTERS)
		item->kind = ITEM_SAMPLE;
	else if (has_duration || item->is_step || item->is_unfinished ||
		 c->track->kind != TRACK_THREAD)
		item->kind = ITEM_SPAN;
	else
		item->kind = ITEM_INSTANT;
	if (item->kind == ITEM_SAMPLE)
		item->duration_ns = 0;
}

/* --- arguments ----------------------------------------------------------------------------- */

static void add_arg(struct cursor *c, const struct archive_plane *plane,
	const struct archive_stat *stat, struct item *item)
{
	struct item_arg *arg = &c->args[item->n_args++];

	arg->key = plane->stat_names.texts[stat->key];
	arg->key_index = plane->keys ? plane->keys[stat->key] : stat->key;
	arg->type = stat->type;
	arg->value.u64 = stat->value.u64;
	arg->text = stat->text;
	arg->n_bytes = stat->n_bytes;
}

/*
 * Whether the event itself has a stat of that key, which then counts instead of the one of its
 * name.
 */
static bool has_key(const struct archive_stats *stats, uint32_t key)
{
	for (size_t i = 0; i < stats->n; i++)
		if (stats->v[i].key == key)
			return true;
	return false;
}

static void add_stats(struct cursor *c, const struct cursor_reach *from,
	const struct archive_stat *v, size_t n, struct marks *m, struct item *item)
{
	const struct archive_plane *plane = from->plane;

	for (size_t i = 0; i < n; i++) {
		enum archive_role role = plane->roles[v[i].key];

		if (role != ROLE_ARG)
			note(m, role, &v[i]);
		if (role < ROLE_HIDDEN && !(v != from->stats.v && has_key(&from->stats, v[i].key)))
			add_arg(c, plane, &v[i], item);
	}
}

static int add_all_stats(struct cursor *c, const struct cursor_reach *from,
	const struct archive_event_name *name, struct marks *m, struct item *item)
{
	const struct archive_stats *of_names = &from->plane->name_stats;
	size_t n_of_name = name ? name->n_stats : 0;

	if (from->stats.n + n_of_name == 0)
		return 0;
	if (grow(&c->args, &c->n_args_allocated, from->stats.n + n_of_name))
		return -ENOMEM;
	add_stats(c, from, from->stats.v, from->stats.n, m, item);
	if (n_of_name)
		add_stats(c, from, of_names->v + name->first_stat, n_of_name, m, item);
	item->args = c->args;
	return 0;
}

/* --- items --------------------------------------------------------------------------------- */

int cursor_make_item(struct cursor *c, const struct cursor_reach *from, struct item *item)
{
	const struct archive_event *e = &from->event;
	const struct archive_event_name *name =
		e->name == ARCHIVE_NO_NAME ? NULL : &from->plane->event_names[e->name];
	struct marks marks = {0};

	*item = (struct item){
		.name = name ? c->host->names[name->name] : c->host->unknown,
		.start_ns = add_saturated(e->start_ns, c->shift_ns),
		.duration_ns = e->duration_ns,
	};
	if (!c->skips_stats && add_all_stats(c, from, name, &marks, item))
		return -ENOMEM;
	set_kind(c, &marks, e->has_duration, item);
	if (marks.n_seen) {
		set_flows(c, &marks, item);
		flow_uses_apply(c->view, c->track, item);
	}
	return 1;
}

bool item_arg_to_double(const struct item_arg *arg, double *out)
{
	switch (arg->type) {
	case STAT_INT64:
		*out = (double)arg->value.i64;
		return true;
	case STAT_UINT64:
		*out = (double)arg->value.u64;
		return true;
	case STAT_DOUBLE:
		*out = arg->value.f64;
		return true;
	case STAT_STRING:
	case STAT_BYTES:
		break;
	}
	return false;
}
