/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the items of a track: merges the events of its files, drops repeated ones, and applies the
 * selection. For each event it finds out the meaning (a span, an instant or a sample; a step; the
 * end of a flow), and which of its stats are arguments.
 */
#include "trace/read/cursor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/event.h"
#include "trace/read/flow_uses.h"
#include "trace/read/order.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"
#include "trace/read/view_tracks.h"
#include "trace/saturate.h"

#define ITEMS_PER_STOP_CHECK 1024
/*
 * The times of one event differ between files by up to ROUNDING_NS, since each snapshot of a
 * recording rounds its clock readings. Between a flight recorder and a capture beside it they
 * differ by up to BESIDE_NS, since the capture has clock readings of its own.
 */
#define ROUNDING_NS 2
#define BESIDE_NS 500

static int cursor_start_counting(struct cursor *c)
{
	c->counts = calloc((size_t)c->view->names.n_texts + 1, sizeof *c->counts);
	return c->counts ? 0 : -ENOMEM;
}

/* Begins with the first event. A track that is not selected has none. */
static void source_begin(struct cursor *c, struct cursor_source *src)
{
	bool is_wanted = !c->selects || selection_has_track(c->view, c->track);

	src->reader = pb_reader(src->line->data, is_wanted ? src->line->n_bytes : 0);
	src->passed = NULL;
	src->at = 0;
	src->is_read = false;
	src->is_over = false;
}

static int compare_sources(const void *left, const void *right)
{
	const struct cursor_source *a = left;
	const struct cursor_source *b = right;

	return (a->line->first_ns > b->line->first_ns) - (a->line->first_ns < b->line->first_ns);
}

static int64_t find_rounding(const struct cursor_source *a, const struct cursor_source *b)
{
	return a->plane->is_recorders == b->plane->is_recorders ? ROUNDING_NS : BESIDE_NS;
}

static int cursor_make_sources(struct cursor *c)
{
	const struct archive_line *line = c->track->line;
	size_t n = 0;

	for (const struct archive_line *l = line; l; l = l->next)
		n++;
	c->sources = calloc(n, sizeof *c->sources);
	if (n > 1)
		c->recent = calloc(CURSOR_RECENT, sizeof *c->recent);
	if (!c->sources || (n > 1 && !c->recent))
		return -ENOMEM;
	for (; line; line = line->next)
		c->sources[c->n_sources++] = (struct cursor_source){
			.plane = line->dictionary ? line->dictionary : c->track->plane,
			.line = line,
		};
	qsort(c->sources, c->n_sources, sizeof *c->sources, compare_sources);
	c->rounding_ns = ROUNDING_NS;
	for (size_t i = 1; i < c->n_sources && c->rounding_ns == ROUNDING_NS; i++)
		c->rounding_ns = find_rounding(&c->sources[0], &c->sources[i]);
	return 0;
}

static int source_open(struct cursor *c, struct cursor_source *src)
{
	source_begin(c, src);
	if (src->reader.p == src->reader.end || src->line->is_ordered)
		return 0;
	return order_make(src->plane, src->line, &src->order, &src->n_order);
}

int cursor_open(
	struct cursor *c, const struct view *view, const struct view_track *track, struct diag *d)
{
	const struct view_host *host = &view->hosts[track->host];
	int r;

	*c = (struct cursor){.view = view, .track = track, .shift_ns = host->shift_ns};
	c->host = host;
	c->diag = d;
	c->selects = view->selection && !view->is_being_selected;
	r = cursor_make_sources(c);
	for (size_t i = 0; i < c->n_sources && r == 0; i++)
		r = source_open(c, &c->sources[i]);
	if (r == 0 && c->selects && selection_counts(view, track))
		r = cursor_start_counting(c);
	return r ? diag_set(d, r, "%.300s: %s", host->archive->path, errno_words(r)) : 0;
}

void cursor_rewind(struct cursor *c)
{
	for (size_t i = 0; i < c->n_sources; i++)
		source_begin(c, &c->sources[i]);
	c->n_begun = 0;
	c->n_over = 0;
	c->n_recent = 0;
	if (c->counts)
		memset(c->counts, 0, ((size_t)c->view->names.n_texts + 1) * sizeof *c->counts);
}

void cursor_close(struct cursor *c)
{
	for (size_t i = 0; i < c->n_sources; i++) {
		free(c->sources[i].order);
		free(c->sources[i].stats.v);
	}
	free(c->sources);
	free(c->recent);
	free(c->counts);
	free(c->args);
	*c = (struct cursor){.view = NULL};
}

/* --- the next event of one file ------------------------------------------------------------ */

static int source_next_sorted(struct cursor_source *src, struct pb_field *field)
{
	uint64_t offset;

	if (src->at == src->n_order)
		return 0;
	offset = src->order[src->at++].offset;
	src->reader = pb_reader(src->line->data + offset, src->line->n_bytes - offset);
	return pb_next(&src->reader, field);
}

static int source_next_field(
	const struct cursor *c, struct cursor_source *src, struct pb_field *field)
{
	int r;

	if (src->order)
		return source_next_sorted(src, field);
	archive_pass(c->host->archive, &src->passed, src->reader.p);
	do
		r = pb_next(&src->reader, field);
	while (r > 0 && field->tag != PB_TAG(4, PB_LEN));
	return r;
}

/* Returns 1, 0 at the end of the line, or a negative errno. */
static int source_read_event(const struct cursor *c, struct cursor_source *src)
{
	struct wire_fault fault;
	struct pb_field f;
	int r;

	do {
		r = source_next_field(c, src, &f);
		if (r <= 0)
			return r;
		src->stats.n = 0;
		r = event_read(src->plane, src->line->base_ns, &f, &src->event,
			c->skips_stats && !c->recent ? NULL : &src->stats, &fault);
		if (r < 0)
			return r;
	} while (src->event.is_aggregated);
	return 1;
}

/* --- the next event of all files ----------------------------------------------------------- */

static int source_look_ahead(const struct cursor *c, struct cursor_source *src)
{
	int r;

	if (src->is_read || src->is_over)
		return 0;
	r = source_read_event(c, src);
	src->is_read = r > 0;
	src->is_over = r == 0;
	return r < 0 ? r : 0;
}

static bool event_is_before(const struct archive_event *a, const struct archive_event *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns
					  : a->duration_ns > b->duration_ns;
}

/*
 * Finds the source with the next event, or NULL. Files whose events begin later are not read yet.
 */
static int find_first_source(struct cursor *c, struct cursor_source **first)
{
	*first = NULL;
	while (c->n_over < c->n_begun && c->sources[c->n_over].is_over)
		c->n_over++;
	for (size_t i = c->n_over; i < c->n_sources; i++) {
		struct cursor_source *src = &c->sources[i];
		int r;

		if (i >= c->n_begun) {
			if (*first && src->line->first_ns > add_saturated((*first)->event.start_ns,
								    c->rounding_ns))
				break;
			c->n_begun = i + 1;
		}
		r = source_look_ahead(c, src);
		if (r)
			return r;
		if (src->is_read && (!*first || event_is_before(&src->event, &(*first)->event)))
			*first = src;
	}
	return 0;
}

static uint32_t source_get_name(const struct cursor_source *src)
{
	return src->event.name == ARCHIVE_NO_NAME ? ARCHIVE_NO_NAME
						  : src->plane->event_names[src->event.name].name;
}

static bool source_is_unfinished(const struct cursor_source *src)
{
	for (size_t i = 0; i < src->stats.n; i++)
		if (src->plane->roles[src->stats.v[i].key] == ROLE_UNFINISHED)
			return true;
	return false;
}

static bool times_are_close(int64_t a_ns, int64_t b_ns, int64_t rounding_ns)
{
	int64_t between_ns = sub_saturated(a_ns, b_ns);

	return between_ns >= -rounding_ns && between_ns <= rounding_ns;
}

/*
 * True if the span of |src| was cut at the end of a snapshot, and the next event of another file is
 * the same span with a longer duration.
 */
static bool span_goes_on(const struct cursor *c, const struct cursor_source *src)
{
	for (size_t i = c->n_over; i < c->n_begun; i++) {
		const struct cursor_source *other = &c->sources[i];

		if (other->plane != src->plane && other->is_read &&
			source_get_name(other) == source_get_name(src) &&
			times_are_close(other->event.start_ns, src->event.start_ns,
				find_rounding(other, src)) &&
			other->event.duration_ns > src->event.duration_ns)
			return true;
	}
	return false;
}

/* Returns the |n|-th last event that was read. */
static struct cursor_recent *get_recent(const struct cursor *c, size_t n)
{
	return &c->recent[(c->n_recent - n) % CURSOR_RECENT];
}

/*
 * True if the event was already read from another file. Snapshots of a recorder overlap. A span
 * that is open when a snapshot of a session is taken is in two files: the first file has it up to
 * the snapshot.
 */
static bool event_is_repeated(struct cursor *c, const struct cursor_source *src)
{
	size_t n = c->n_recent < CURSOR_RECENT ? c->n_recent : CURSOR_RECENT;
	size_t n_close = 0;
	bool is_cut = source_is_unfinished(src);
	uint32_t name = source_get_name(src);

	if (is_cut && span_goes_on(c, src))
		return true;
	while (n_close < n && times_are_close(get_recent(c, n_close + 1)->start_ns,
				      src->event.start_ns, c->rounding_ns))
		n_close++;
	/*
	 * The oldest event is compared first, so that of many equal events the n-th of one file
	 * matches the n-th of the other.
	 */
	for (n = n_close; n; n--) {
		struct cursor_recent *old = get_recent(c, n);
		int64_t rounding_ns = find_rounding(old->from, src);

		if (old->name != name || old->from->plane == src->plane ||
			old->twin == src->plane ||
			!times_are_close(old->start_ns, src->event.start_ns, rounding_ns))
			continue;
		if (!is_cut &&
			!times_are_close(old->duration_ns, src->event.duration_ns, 2 * rounding_ns))
			continue;
		old->twin = src->plane;
		return true;
	}
	c->recent[c->n_recent++ % CURSOR_RECENT] = (struct cursor_recent){
		.start_ns = src->event.start_ns,
		.duration_ns = src->event.duration_ns,
		.name = name,
		.from = src,
	};
	return false;
}

/* Returns 1 and |from|, the source whose event is next, or 0 at the end, or a negative errno. */
static int cursor_read_event(struct cursor *c, struct cursor_source **from)
{
	int r;

	*from = &c->sources[0];
	if (!c->recent)
		return source_read_event(c, *from);
	do {
		r = find_first_source(c, from);
		if (r || !*from)
			return r;
		(*from)->is_read = false;
	} while (event_is_repeated(c, *from));
	return 1;
}

/* --- marks --------------------------------------------------------------------------------- */

/* The numbers among an event's stats that have a role. */
struct marks {
	uint64_t seen; /* bit mask of roles */
	uint64_t value[ROLE_CONSUMER + 1];
};

static bool marks_have(const struct marks *m, enum archive_role role)
{
	return m->seen >> role & 1;
}

static void marks_note(struct marks *m, enum archive_role role, const struct archive_stat *stat)
{
	if (stat->type != STAT_INT64 && stat->type != STAT_UINT64)
		return;
	m->seen |= UINT64_C(1) << role;
	m->value[role] = stat->value.u64;
}

/*
 * Makes the flow's id in the view, never 0. Flow ids of proftap, which have type 0, are the same in
 * all processes and machines; all others are unique only within one archive.
 */
static uint64_t make_flow_id(const struct cursor *c, uint64_t type, uint64_t id)
{
	bool is_everywhere = type == 0 && c->host->is_ours;
	uint64_t scope = is_everywhere ? 0 : (uint64_t)(c->host - c->view->hosts) + 1;
	uint64_t flow = flow_id_mix(id + flow_id_mix(type + flow_id_mix(scope)));

	return flow ? flow : 1;
}

#define TYPE_CORRELATION 9 /* GpuLaunch in tsl/profiler/lib/context_types.h */

static void item_set_flows(const struct cursor *c, const struct marks *m, struct item *item)
{
	bool is_device = view_get_origin(c->view, c->track)->is_device;

	if (marks_have(m, ROLE_PRODUCER))
		item->flow_out =
			make_flow_id(c, m->value[ROLE_PRODUCER_TYPE], m->value[ROLE_PRODUCER]);
	if (marks_have(m, ROLE_CONSUMER))
		item->flow_in =
			make_flow_id(c, m->value[ROLE_CONSUMER_TYPE], m->value[ROLE_CONSUMER]);
	if (!marks_have(m, ROLE_CORRELATION) || !m->value[ROLE_CORRELATION])
		return;
	if (is_device && !item->flow_in)
		item->flow_in = make_flow_id(c, TYPE_CORRELATION, m->value[ROLE_CORRELATION]);
	else if (!is_device && !item->flow_out)
		item->flow_out = make_flow_id(c, TYPE_CORRELATION, m->value[ROLE_CORRELATION]);
}

static void item_set_kind(
	const struct cursor *c, const struct marks *m, bool has_duration, struct item *item)
{
	item->is_unfinished = m->value[ROLE_UNFINISHED] != 0;
	item->is_started_before = m->value[ROLE_STARTED_BEFORE] != 0;
	item->is_step = marks_have(m, ROLE_ROOT) && marks_have(m, ROLE_STEP_NUM);
	item->step_num = (int64_t)m->value[ROLE_STEP_NUM];
	if (c->track->kind == TRACK_COUNTERS)
		item->kind = ITEM_SAMPLE;
	else if (c->track->kind == TRACK_SAMPLES)
		item->kind = ITEM_CPU_SAMPLE;
	else if (c->track->kind == TRACK_STATES)
		item->kind = ITEM_STATE;
	else if (has_duration || item->is_step || item->is_unfinished ||
		 c->track->kind != TRACK_THREAD)
		item->kind = ITEM_SPAN;
	else
		item->kind = ITEM_INSTANT;
	if (item->kind == ITEM_SAMPLE)
		item->duration_ns = 0;
}

/* Reads the stack of a sample, and how many times of waiting it stands for. */
static void item_set_stack(
	const struct cursor *c, const struct cursor_source *from, struct item *item)
{
	const struct names *keys = &from->plane->stat_names;
	uint32_t key = names_find(keys, "stack");
	uint32_t key_waits = names_find(keys, "waits");

	for (size_t i = 0; i < from->stats.n; i++) {
		const struct archive_stat *stat = &from->stats.v[i];

		if (stat->key == key)
			item->stack = view_find_stack(c->view, from->plane, stat->value.u64);
		else if (stat->key == key_waits)
			item->n_waits = stat->value.u64;
	}
	if (item->stack != STACKS_NONE && c->view->function_names)
		item->name =
			c->view->function_names[stacks_get_text(&c->view->stacks, item->stack)];
}

/* --- arguments ----------------------------------------------------------------------------- */

static void item_add_arg(struct cursor *c, const struct archive_plane *plane,
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
 * True if the event itself has a stat of that key: it replaces the stat that all events of its name
 * share.
 */
static bool stats_have_key(const struct archive_stats *stats, uint32_t key)
{
	for (size_t i = 0; i < stats->n; i++)
		if (stats->v[i].key == key)
			return true;
	return false;
}

static void item_add_stats(struct cursor *c, const struct cursor_source *from,
	const struct archive_stat *v, size_t n, struct marks *m, struct item *item)
{
	const struct archive_plane *plane = from->plane;

	for (size_t i = 0; i < n; i++) {
		enum archive_role role = plane->roles[v[i].key];

		if (role != ROLE_ARG)
			marks_note(m, role, &v[i]);
		if (role < ROLE_HIDDEN &&
			!(v != from->stats.v && stats_have_key(&from->stats, v[i].key)))
			item_add_arg(c, plane, &v[i], item);
	}
}

static int item_add_all_stats(struct cursor *c, const struct cursor_source *from,
	const struct archive_event_name *name, struct marks *m, struct item *item)
{
	const struct archive_stats *of_names = &from->plane->name_stats;
	size_t n_of_name = name ? name->n_stats : 0;

	if (from->stats.n + n_of_name == 0)
		return 0;
	if (grow(&c->args, &c->n_args_allocated, from->stats.n + n_of_name))
		return -ENOMEM;
	item_add_stats(c, from, from->stats.v, from->stats.n, m, item);
	if (n_of_name)
		item_add_stats(c, from, of_names->v + name->first_stat, n_of_name, m, item);
	item->args = c->args;
	return 0;
}

const struct item_arg *item_find_arg(const struct item *item, const char *key)
{
	for (size_t i = 0; i < item->n_args; i++)
		if (strcmp(item->args[i].key, key) == 0)
			return &item->args[i];
	return NULL;
}

/* Makes the item of the event that |from| is at. 1, or -ENOMEM. */
static int cursor_make_item(struct cursor *c, const struct cursor_source *from, struct item *item)
{
	const struct archive_event *e = &from->event;
	const struct archive_event_name *name =
		e->name == ARCHIVE_NO_NAME ? NULL : &from->plane->event_names[e->name];
	struct marks marks = {0};

	*item = (struct item){
		.name = name ? c->host->names[name->name] : c->host->unknown,
		.start_ns = add_saturated(e->start_ns, c->shift_ns),
		.duration_ns = e->duration_ns,
		.stack = STACKS_NONE,
		.n_waits = 1,
	};
	if (!c->skips_stats && item_add_all_stats(c, from, name, &marks, item))
		return -ENOMEM;
	item_set_kind(c, &marks, e->has_duration, item);
	if (item->kind == ITEM_CPU_SAMPLE)
		item_set_stack(c, from, item);
	if (marks.seen) {
		item_set_flows(c, &marks, item);
		flow_uses_apply(c->view, c->track, item);
	}
	return 1;
}

/* --- items --------------------------------------------------------------------------------- */

/* Cuts a span or a wait to the selected time. False if no part of it is left. */
static bool clip_span(const struct selection *s, struct item *item)
{
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);

	if (!item->duration_ns)
		return true;
	if (item->start_ns < s->from_ns) {
		item->start_ns = s->from_ns;
		item->is_started_before = true;
	}
	if (end_ns > s->to_ns) {
		end_ns = s->to_ns;
		item->is_unfinished = true;
	}
	item->duration_ns = end_ns - item->start_ns;
	return item->duration_ns > 0;
}

/* True if the item is selected; its name may be replaced. */
static bool select_item(struct cursor *c, struct item *item)
{
	const struct view *v = c->view;
	uint64_t nth = c->counts ? c->counts[item->name]++ : 0;

	if (!c->selects)
		return true;
	if (!selection_has_item(v, c->track, item, nth))
		return false;
	if (v->selected.kernels && c->track->kind == TRACK_STREAM)
		item->name = v->selected.kernels[item->name];
	return !v->clips_spans || clip_span(v->selection, item);
}

static int cursor_fail(const struct cursor *c, int r)
{
	if (r == -ENOMEM)
		return diag_set(c->diag, r, "%.300s: out of memory while reading it",
			c->host->archive->path);
	if (r == -ECANCELED)
		return diag_set(c->diag, r, "%.300s: interrupted", c->host->archive->path);
	return diag_set(
		c->diag, r, "%.300s: it was changed while it was read", c->host->archive->path);
}

/* Checks view->stop at the first call, and then rarely, so that it costs nothing. */
static bool cursor_is_stopped(struct cursor *c)
{
	return c->n_asked++ % ITEMS_PER_STOP_CHECK == 0 && view_is_stopped(c->view);
}

int cursor_next(struct cursor *c, struct item *item)
{
	struct cursor_source *from;
	int r;

	do {
		r = cursor_is_stopped(c) ? -ECANCELED : cursor_read_event(c, &from);
		if (r > 0)
			r = cursor_make_item(c, from, item);
	} while (r > 0 && !select_item(c, item));
	return r < 0 ? cursor_fail(c, r) : r;
}

static int read_items(const struct view *view, const struct view_track *track, bool skips_stats,
	cursor_reader *reader, void *context, struct diag *d)
{
	struct cursor c;
	struct item item;
	int r = cursor_open(&c, view, track, d);

	c.skips_stats = skips_stats;
	while (r >= 0 && (r = cursor_next(&c, &item)) > 0) {
		r = reader(context, &item);
		if (r)
			break;
	}
	cursor_close(&c);
	return r;
}

int cursor_read(const struct view *view, const struct view_track *track, cursor_reader *reader,
	void *context, struct diag *d)
{
	return read_items(view, track, false, reader, context, d);
}

int cursor_read_times(const struct view *view, const struct view_track *track,
	cursor_reader *reader, void *context, struct diag *d)
{
	return read_items(view, track, true, reader, context, d);
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

bool item_get_sample(const struct item *item, double *value)
{
	size_t i = 0;

	while (i < item->n_args && !item_arg_to_double(&item->args[i], value))
		i++;
	return i < item->n_args && isfinite(*value);
}
