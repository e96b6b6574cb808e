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

/* --- items --------------------------------------------------------------------------------- */

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
			rc = cursor_make_item(c, &e, item);
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
