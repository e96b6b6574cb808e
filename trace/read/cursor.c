/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors; see cursor.h. */
#include "trace/read/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/read/cursor_item.h"
#include "trace/read/event.h"
#include "trace/read/order.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define ITEMS_A_LOOK 1024
/*
 * How much the times of one event may differ between files: the looks at one recording round its
 * clock readings, and a capture beside a flight recorder has readings of its own.
 */
#define ROUNDING_NS 2
#define BESIDE_NS 500

static int start_counting(struct cursor *c)
{
	c->counts = calloc((size_t)c->view->names.n_texts + 1, sizeof *c->counts);
	return c->counts ? 0 : -ENOMEM;
}

/* A track that is not wanted has no events. */
static void begin_reading(struct cursor *c, struct cursor_reach *r)
{
	bool is_wanted = !c->selects || selection_has_track(c->view, c->track);

	r->reader = pb_reader(r->line->data, is_wanted ? r->line->n_bytes : 0);
	r->passed = NULL;
	r->at = 0;
	r->is_read = false;
	r->is_over = false;
}

static int compare_reaches(const void *left, const void *right)
{
	const struct cursor_reach *a = left;
	const struct cursor_reach *b = right;

	return (a->line->first_ns > b->line->first_ns) - (a->line->first_ns < b->line->first_ns);
}

static int64_t find_rounding(const struct cursor_reach *a, const struct cursor_reach *b)
{
	return a->plane->is_recorders == b->plane->is_recorders ? ROUNDING_NS : BESIDE_NS;
}

static int make_reaches(struct cursor *c)
{
	const struct archive_line *line = c->track->line;
	size_t n = 0;

	for (const struct archive_line *l = line; l; l = l->next)
		n++;
	c->reaches = calloc(n, sizeof *c->reaches);
	if (n > 1)
		c->recent = calloc(CURSOR_RECENT, sizeof *c->recent);
	if (!c->reaches || (n > 1 && !c->recent))
		return -ENOMEM;
	for (; line; line = line->next)
		c->reaches[c->n_reaches++] = (struct cursor_reach){
			.plane = line->dictionary ? line->dictionary : c->track->plane,
			.line = line,
		};
	qsort(c->reaches, c->n_reaches, sizeof *c->reaches, compare_reaches);
	c->rounding_ns = ROUNDING_NS;
	for (size_t i = 1; i < c->n_reaches && c->rounding_ns == ROUNDING_NS; i++)
		c->rounding_ns = find_rounding(&c->reaches[0], &c->reaches[i]);
	return 0;
}

static int open_reach(struct cursor *c, struct cursor_reach *r)
{
	begin_reading(c, r);
	if (r->reader.p == r->reader.end || r->line->is_ordered)
		return 0;
	return order_make(r->plane, r->line, &r->order, &r->n_order);
}

int cursor_open(
	struct cursor *c, const struct view *view, const struct view_track *track, struct diag *d)
{
	const struct view_host *host = &view->hosts[track->host];
	int rc;

	*c = (struct cursor){.view = view, .track = track, .shift_ns = host->shift_ns};
	c->host = host;
	c->diag = d;
	c->selects = view->selection && !view->is_being_selected;
	rc = make_reaches(c);
	for (size_t i = 0; i < c->n_reaches && rc == 0; i++)
		rc = open_reach(c, &c->reaches[i]);
	if (rc == 0 && c->selects && selection_counts(view, track))
		rc = start_counting(c);
	return rc ? diag_set(d, rc, "%.300s: %s", host->archive->path, errno_words(rc)) : 0;
}

void cursor_rewind(struct cursor *c)
{
	for (size_t i = 0; i < c->n_reaches; i++)
		begin_reading(c, &c->reaches[i]);
	c->n_begun = 0;
	c->n_over = 0;
	c->n_recent = 0;
	if (c->counts)
		memset(c->counts, 0, ((size_t)c->view->names.n_texts + 1) * sizeof *c->counts);
}

void cursor_close(struct cursor *c)
{
	for (size_t i = 0; i < c->n_reaches; i++) {
		free(c->reaches[i].order);
		free(c->reaches[i].stats.v);
	}
	free(c->reaches);
	free(c->recent);
	free(c->counts);
	free(c->args);
	*c = (struct cursor){.view = NULL};
}

/* --- the next event of a file -------------------------------------------------------------- */

static int find_ordered(struct cursor_reach *r, struct pb_field *field)
{
	uint64_t offset;

	if (r->at == r->n_order)
		return 0;
	offset = r->order[r->at++].offset;
	r->reader = pb_reader(r->line->data + offset, r->line->n_bytes - offset);
	return pb_next(&r->reader, field);
}

static int find_field(const struct cursor *c, struct cursor_reach *r, struct pb_field *field)
{
	int rc;

	if (r->order)
		return find_ordered(r, field);
	archive_pass(c->host->archive, &r->passed, r->reader.p);
	do
		rc = pb_next(&r->reader, field);
	while (rc > 0 && field->tag != PB_TAG(4, PB_LEN));
	return rc;
}

/* 1, 0 at the end of the line, or a negative errno. */
static int read_event(const struct cursor *c, struct cursor_reach *r)
{
	struct pb_reader bad;
	struct pb_field f;
	int rc;

	do {
		rc = find_field(c, r, &f);
		if (rc <= 0)
			return rc;
		r->stats.n = 0;
		rc = event_read(r->plane, r->line->base_ns, &f, &r->event,
			c->skips_stats && !c->recent ? NULL : &r->stats, &bad);
		if (rc < 0)
			return rc;
	} while (r->event.is_aggregated);
	return 1;
}

/* --- the next event of all files ----------------------------------------------------------- */

static int look_ahead(const struct cursor *c, struct cursor_reach *r)
{
	int rc;

	if (r->is_read || r->is_over)
		return 0;
	rc = read_event(c, r);
	r->is_read = rc > 0;
	r->is_over = rc == 0;
	return rc < 0 ? rc : 0;
}

static bool is_before(const struct archive_event *a, const struct archive_event *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns
					  : a->duration_ns > b->duration_ns;
}

/* The one with the next event, or NULL. A file whose events begin later is not looked at yet. */
static int find_first(struct cursor *c, struct cursor_reach **first)
{
	*first = NULL;
	while (c->n_over < c->n_begun && c->reaches[c->n_over].is_over)
		c->n_over++;
	for (size_t i = c->n_over; i < c->n_reaches; i++) {
		struct cursor_reach *r = &c->reaches[i];
		int rc;

		if (i >= c->n_begun) {
			if (*first && r->line->first_ns > add_saturated((*first)->event.start_ns,
								  c->rounding_ns))
				break;
			c->n_begun = i + 1;
		}
		rc = look_ahead(c, r);
		if (rc)
			return rc;
		if (r->is_read && (!*first || is_before(&r->event, &(*first)->event)))
			*first = r;
	}
	return 0;
}

static uint32_t get_name(const struct cursor_reach *r)
{
	return r->event.name == ARCHIVE_NO_NAME ? ARCHIVE_NO_NAME
						: r->plane->event_names[r->event.name].name;
}

static bool is_unfinished(const struct cursor_reach *r)
{
	for (size_t i = 0; i < r->stats.n; i++)
		if (r->plane->roles[r->stats.v[i].key] == ROLE_UNFINISHED)
			return true;
	return false;
}

static bool is_close(int64_t a_ns, int64_t b_ns, int64_t rounding_ns)
{
	int64_t between_ns = sub_saturated(a_ns, b_ns);

	return between_ns >= -rounding_ns && between_ns <= rounding_ns;
}

/* Whether a span that was cut at the end of a look goes on in the next event of another file. */
static bool goes_on(const struct cursor *c, const struct cursor_reach *r)
{
	for (size_t i = c->n_over; i < c->n_begun; i++) {
		const struct cursor_reach *other = &c->reaches[i];

		if (other->plane != r->plane && other->is_read && get_name(other) == get_name(r) &&
			is_close(other->event.start_ns, r->event.start_ns,
				find_rounding(other, r)) &&
			other->event.duration_ns > r->event.duration_ns)
			return true;
	}
	return false;
}

/* The |n|-th last. */
static struct cursor_recent *get_recent(const struct cursor *c, size_t n)
{
	return &c->recent[(c->n_recent - n) % CURSOR_RECENT];
}

/*
 * Whether another file has it, too: two looks at a recorder overlap, and a span that goes on when a session is looked at is in
 * both files, in the first as far as it went.
 */
static bool is_repeated(struct cursor *c, const struct cursor_reach *r)
{
	size_t n = c->n_recent < CURSOR_RECENT ? c->n_recent : CURSOR_RECENT;
	size_t n_close = 0;
	bool is_cut = is_unfinished(r);
	uint32_t name = get_name(r);

	if (is_cut && goes_on(c, r))
		return true;
	while (n_close < n &&
		is_close(get_recent(c, n_close + 1)->start_ns, r->event.start_ns, c->rounding_ns))
		n_close++;
	/*
	 * The oldest event is compared first, so that of many equal events the n-th of one file
	 * matches the n-th of the other.
	 */
	for (n = n_close; n; n--) {
		struct cursor_recent *old = get_recent(c, n);
		int64_t rounding_ns = find_rounding(old->from, r);

		if (old->name != name || old->from->plane == r->plane || old->twin == r->plane ||
			!is_close(old->start_ns, r->event.start_ns, rounding_ns))
			continue;
		if (!is_cut && !is_close(old->duration_ns, r->event.duration_ns, 2 * rounding_ns))
			continue;
		old->twin = r->plane;
		return true;
	}
	c->recent[c->n_recent++ % CURSOR_RECENT] = (struct cursor_recent){
		.start_ns = r->event.start_ns,
		.duration_ns = r->event.duration_ns,
		.name = name,
		.from = r,
	};
	return false;
}

/* 1 and |from|, or 0 at the end, or a negative errno. */
static int read_first(struct cursor *c, struct cursor_reach **from)
{
	int rc;

	*from = &c->reaches[0];
	if (!c->recent)
		return read_event(c, *from);
	do {
		rc = find_first(c, from);
		if (rc || !*from)
			return rc;
		(*from)->is_read = false;
	} while (is_repeated(c, *from));
	return 1;
}

/* --- items --------------------------------------------------------------------------------- */

/* Cuts it to the time that is wanted; false: it ended where that begins. */
static bool clip_span(const struct selection *s, struct item *item)
{
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);

	if (item->kind != ITEM_SPAN || !item->duration_ns)
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
	return !v->clips_spans || clip_span(v->selection, item);
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
	struct cursor_reach *from;
	int rc;

	do {
		rc = is_stopped(c) ? -ECANCELED : read_first(c, &from);
		if (rc > 0)
			rc = cursor_make_item(c, from, item);
	} while (rc > 0 && !choose(c, item));
	return rc < 0 ? fail(c, rc) : rc;
}

static int read_items(const struct view *view, const struct view_track *track, bool skips_stats,
	cursor_reader *reader, void *context, struct diag *d)
{
	struct cursor c;
	struct item item;
	int rc = cursor_open(&c, view, track, d);

	c.skips_stats = skips_stats;
	while (rc >= 0 && (rc = cursor_next(&c, &item)) > 0) {
		rc = reader(context, &item);
		if (rc)
			break;
	}
	cursor_close(&c);
	return rc;
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
