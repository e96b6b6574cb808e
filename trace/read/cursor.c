/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors; see cursor.h. */
#include "trace/read/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/event.h"
#include "trace/read/order.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define ITEMS_A_LOOK 1024

static int start_counting(struct cursor *c)
{
	c->counts = calloc((size_t)c->view->names.n_texts + 1, sizeof *c->counts);
	return c->counts ? 0 : -ENOMEM;
}

/* A track that is not wanted has no events. */
static void begin_reading(struct cursor *c)
{
	const struct archive_line *line = c->track->line;
	bool is_wanted = !c->selects || selection_has_track(c->view, c->track);

	c->reader = pb_reader(line->data, is_wanted ? line->n_bytes : 0);
}

int cursor_open(
	struct cursor *c, const struct view *view, const struct view_track *track, struct diag *d)
{
	const struct archive_line *line = track->line;
	const struct view_host *host = &view->hosts[view_get_origin(view, track)->host];
	int rc = 0;

	*c = (struct cursor){.view = view, .track = track, .shift_ns = host->shift_ns};
	c->host = host;
	c->diag = d;
	c->selects = view->selection && !view->is_being_selected;
	begin_reading(c);
	if (c->reader.p < c->reader.end && !line->is_ordered)
		rc = order_make(track->plane, line, &c->order, &c->n_order);
	if (rc == 0 && c->selects && selection_counts(view, track))
		rc = start_counting(c);
	return rc ? diag_set(d, rc, "%.300s: %s", host->archive->path, errno_words(rc)) : 0;
}

void cursor_rewind(struct cursor *c)
{
	begin_reading(c);
	c->passed = NULL;
	c->at = 0;
	if (c->counts)
		memset(c->counts, 0, ((size_t)c->view->names.n_texts + 1) * sizeof *c->counts);
}

void cursor_close(struct cursor *c)
{
	free(c->order);
	free(c->counts);
	free(c->stats.v);
	free(c->args);
	*c = (struct cursor){.view = NULL};
}

/* --- the next event ------------------------------------------------------------------------ */

static int find_ordered(struct cursor *c, struct pb_field *field)
{
	const struct archive_line *line = c->track->line;
	uint64_t offset;

	if (c->at == c->n_order)
		return 0;
	offset = c->order[c->at++].offset;
	c->reader = pb_reader(line->data + offset, line->n_bytes - offset);
	return pb_next(&c->reader, field);
}

static int find_field(struct cursor *c, struct pb_field *field)
{
	int rc;

	if (c->order)
		return find_ordered(c, field);
	archive_pass(c->host->archive, &c->passed, c->reader.p);
	do
		rc = pb_next(&c->reader, field);
	while (rc > 0 && field->tag != PB_TAG(4, PB_LEN));
	return rc;
}

static int read_event(struct cursor *c, struct archive_event *e)
{
	struct pb_reader bad;
	struct pb_field f;
	int rc;

	do {
		rc = find_field(c, &f);
		if (rc <= 0)
			return rc;
		c->stats.n = 0;
		rc = event_read(c->track->plane, c->track->line->base_ns, &f, e, &c->stats, &bad);
		if (rc < 0)
			return rc;
	} while (e->is_aggregated);
	return 1;
}

/* --- what it means ------------------------------------------------------------------------- */

/* The numbers of stats that are no arguments. */
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

/* splitmix64's last steps: ids that differ in one bit differ in half of theirs. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/*
 * Ids of ours, of type 0, hold between processes and machines; others count something in one process.
 * Never 0.
 */
static uint64_t make_flow(const struct cursor *c, uint64_t type, uint64_t id)
{
	bool is_everywhere = type == 0 && c->host->is_ours;
	uint64_t scope = is_everywhere ? 0 : (uint64_t)(c->host - c->view->hosts) + 1;
	uint64_t flow = mix(id + mix(type + mix(scope)));

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

static void set_kind(const struct cursor *c, const struct marks *m, struct item *item)
{
	item->is_unfinished = m->value[ROLE_UNFINISHED] != 0;
	item->is_step = has(m, ROLE_ROOT) && has(m, ROLE_STEP_NUM);
	item->step_num = (int64_t)m->value[ROLE_STEP_NUM];
	if (c->track->kind == TRACK_COUNTERS)
		item->kind = ITEM_SAMPLE;
	else if (item->duration_ns || item->is_step || item->is_unfinished ||
		 c->track->kind != TRACK_THREAD)
		item->kind = ITEM_SPAN;
	else
		item->kind = ITEM_INSTANT;
	if (item->kind == ITEM_SAMPLE)
		item->duration_ns = 0;
}

/* --- arguments ----------------------------------------------------------------------------- */

static void add_arg(struct cursor *c, const struct archive_stat *stat, struct item *item)
{
	struct item_arg *arg = &c->args[item->n_args++];

	arg->key = c->track->plane->stat_names.texts[stat->key];
	arg->key_index = stat->key;
	arg->type = stat->type;
	arg->value.u64 = stat->value.u64;
	arg->text = stat->text;
	arg->n_bytes = stat->n_bytes;
}

/* What an event says itself counts, not what is said of its name. */
static bool has_key(const struct cursor *c, uint32_t key)
{
	for (size_t i = 0; i < c->stats.n; i++)
		if (c->stats.v[i].key == key)
			return true;
	return false;
}

static void add_stats(struct cursor *c, const struct archive_stat *v, size_t n, struct marks *m,
	struct item *item)
{
	const uint8_t *roles = c->track->plane->roles;

	for (size_t i = 0; i < n; i++) {
		enum archive_role role = roles[v[i].key];

		if (role != ROLE_ARG)
			note(m, role, &v[i]);
		if (role < ROLE_HIDDEN && !(v != c->stats.v && has_key(c, v[i].key)))
			add_arg(c, &v[i], item);
	}
}

static int add_all_stats(
	struct cursor *c, const struct archive_event_name *name, struct marks *m, struct item *item)
{
	const struct archive_stats *of_names = &c->track->plane->name_stats;
	size_t n_of_name = name ? name->n_stats : 0;

	if (c->stats.n + n_of_name == 0)
		return 0;
	if (grow(&c->args, &c->n_args_allocated, c->stats.n + n_of_name))
		return -ENOMEM;
	add_stats(c, c->stats.v, c->stats.n, m, item);
	if (n_of_name)
		add_stats(c, of_names->v + name->first_stat, n_of_name, m, item);
	item->args = c->args;
	return 0;
}

/* --- items --------------------------------------------------------------------------------- */

static int make_item(struct cursor *c, const struct archive_event *e, struct item *item)
{
	const struct archive_plane *plane = c->track->plane;
	const struct archive_event_name *name =
		e->name == ARCHIVE_NO_NAME ? NULL : &plane->event_names[e->name];
	struct marks marks = {0};

	*item = (struct item){
		.name = name ? c->host->names[name->name] : c->host->unknown,
		.start_ns = add_saturated(e->start_ns, c->shift_ns),
		.duration_ns = e->duration_ns,
	};
	if (add_all_stats(c, name, &marks, item))
		return -ENOMEM;
	set_kind(c, &marks, item);
	if (marks.n_seen)
		set_flows(c, &marks, item);
	return 1;
}

/* Whether it is wanted, and under which name. */
static bool choose(struct cursor *c, struct item *item)
{
	const struct view *v = c->view;
	uint64_t nth = c->counts ? c->counts[item->name]++ : 0;

	if (!c->selects)
		return true;
	if (!selection_has_item(v, c->track, item, nth))
		return false;
	if (v->selected.kernels && c->track->kind == TRACK_STREAM)
		item->name = v->selected.kernels[item->name];
	return true;
}

static int fail(const struct cursor *c, int rc)
{
	if (rc == -ENOMEM)
		return diag_set(c->diag, rc, "%.300s: out of memory while reading it",
			c->host->archive->path);
	if (rc == -ECANCELED)
		return diag_set(c->diag, rc, "%.300s: interrupted", c->host->archive->path);
	return diag_set(
		c->diag, rc, "%.300s: it was changed while it was read", c->host->archive->path);
}

/* The first time, and then once in many: it is to cost nothing. */
static bool is_stopped(struct cursor *c)
{
	return c->n_asked++ % ITEMS_A_LOOK == 0 && view_is_stopped(c->view);
}

int cursor_next(struct cursor *c, struct item *item)
{
	struct archive_event e;
	int rc;

	do {
		rc = is_stopped(c) ? -ECANCELED : read_event(c, &e);
		if (rc > 0)
			rc = make_item(c, &e, item);
	} while (rc > 0 && !choose(c, item));
	return rc < 0 ? fail(c, rc) : rc;
}

int cursor_read(const struct view *view, const struct view_track *track, cursor_reader *reader,
	void *context, struct diag *d)
{
	struct cursor c;
	struct item item;
	int rc = cursor_open(&c, view, track, d);

	while (rc >= 0 && (rc = cursor_next(&c, &item)) > 0) {
		rc = reader(context, &item);
		if (rc)
			break;
	}
	cursor_close(&c);
	return rc;
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
