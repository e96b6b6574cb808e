/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events; see perfetto_events.h. A span is two packets, where it begins and where it ends, and the packets of a sequence are in the
 * order of time, so that a time is the difference from the one before. Names and keys are numbers, told where they are first used.
 */
#include "trace/codec/perfetto_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_args.h"
#include "trace/codec/perfetto_ends.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_interned.h"
#include "trace/codec/perfetto_rows.h"
#include "trace/codec/perfetto_samples.h"
#include "trace/codec/perfetto_sequence.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* --- spans and instants -------------------------------------------------------------------- */

static size_t measure(const struct perfetto_sequence *s, const struct item *item)
{
	size_t n = PERFETTO_FEW_BYTES + perfetto_args_measure(item->args, item->n_args);

	if (!perfetto_interned_find(&s->names, item->name))
		n += PACKET_TEXT_BYTES(strlen(names_get(&s->w->view->names, item->name)));
	return n;
}

/*
 * An arrow goes from each event with the id to the next one in time. The last is not marked (terminating_flow_ids): an arrow
 * may have several ends, and none would be drawn after the first.
 */
static uint8_t *put_flows(uint8_t *at, const struct item *item)
{
	if (item->flow_out)
		at = packet_fixed64(at, EVENT_FLOW_IDS, item->flow_out);
	if (item->flow_in && item->flow_in != item->flow_out)
		at = packet_fixed64(at, EVENT_FLOW_IDS, item->flow_in);
	return at;
}

static uint8_t *put_facts(struct perfetto_sequence *s, uint8_t *at, const struct item *item)
{
	at = pb_put_uint(at, EVENT_NAME_IID, perfetto_interned_find(&s->names, item->name));
	if (item->is_step)
		at = pb_put_uint(at, EVENT_CATEGORY_IIDS, PERFETTO_STEP_IID);
	at = put_flows(at, item);
	return perfetto_args_put(at, item->args, item->n_args, &s->keys);
}

/* The begin of a span in that row, or an instant, in row 0. */
static int put_item(
	struct perfetto_sequence *s, const struct item *item, uint64_t type, uint32_t row)
{
	uint8_t *packet = perfetto_reserve(s->w, measure(s, item));
	uint8_t *event;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_sequence_put_head(s, packet, item->start_ns);
	at = perfetto_sequence_put_interned(s, at, item);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, type);
	if (row)
		at = pb_put_uint(at, EVENT_TRACK, s->rows.v[row].uuid);
	at = put_facts(s, at, item);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

static int put_end(struct perfetto_sequence *s, const struct perfetto_end *end)
{
	uint8_t *packet = perfetto_reserve(s->w, PERFETTO_FEW_BYTES);
	uint8_t *event;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_sequence_put_head(s, packet, end->end_ns);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, TYPE_END);
	if (end->row)
		at = pb_put_uint(at, EVENT_TRACK, s->rows.v[end->row].uuid);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

static struct perfetto_end take_end(struct perfetto_sequence *s)
{
	struct perfetto_end end = perfetto_ends_take(&s->ends);
	struct perfetto_row *row = &s->rows.v[end.row];

	row->depth--;
	row->n_finished -= !end.is_unfinished;
	return end;
}

/* Whatever has ended at that time. */
static int put_ends(struct perfetto_sequence *s, int64_t at_ns)
{
	int rc = 0;

	while (rc == 0 && perfetto_ends_has(&s->ends, at_ns)) {
		struct perfetto_end end = take_end(s);

		rc = put_end(s, &end);
	}
	return rc;
}

/* At the track's end: what is unfinished stays open, unless that would keep a finished one around it open. */
static int put_last_ends(struct perfetto_sequence *s)
{
	int rc = 0;

	while (rc == 0 && s->ends.n) {
		struct perfetto_end end = take_end(s);

		if (!end.is_unfinished || s->rows.v[end.row].n_finished)
			rc = put_end(s, &end);
	}
	return rc;
}

static int put_span(struct perfetto_sequence *s, const struct item *item)
{
	struct perfetto_end end = {
		.end_ns = add_saturated(item->start_ns, item->duration_ns),
		.order = s->n_spans++,
		.is_unfinished = item->is_unfinished,
	};
	int64_t row =
		perfetto_rows_place(&s->rows, s->w, s->track, item->start_ns, item->duration_ns);

	if (row < 0)
		return (int)row;
	end.row = (uint32_t)row;
	s->rows.v[row].depth++;
	s->rows.v[row].n_finished += !item->is_unfinished;
	if (perfetto_ends_add(&s->ends, &end))
		return perfetto_fail_memory(s->w);
	return put_item(s, item, TYPE_BEGIN, end.row);
}

/* --- tracks -------------------------------------------------------------------------------- */

static int put_any(void *sequence, const struct item *item)
{
	struct perfetto_sequence *s = sequence;
	int rc = s->has_begun ? put_ends(s, item->start_ns) : perfetto_sequence_begin(s);

	if (rc)
		return rc;
	if (item->kind == ITEM_SAMPLE && !perfetto_is_sample(item)) {
		codec_lose(s->w->result, "counter samples that are no number", 1);
		return 0;
	}
	s->w->result->n_items++;
	switch (item->kind) {
	case ITEM_SPAN:
		return put_span(s, item);
	case ITEM_INSTANT:
		return put_item(s, item, TYPE_INSTANT, 0);
	case ITEM_SAMPLE:
		break;
	}
	return perfetto_put_sample(s, item);
}

static int put_items(struct perfetto_sequence *s)
{
	int rc = cursor_read(s->w->view, s->track, put_any, s, s->w->diag);

	return rc ? rc : put_last_ends(s);
}

static int switch_to(struct perfetto_sequence *s, size_t track)
{
	const struct view *v = s->w->view;

	s->track = &v->tracks[track];
	s->id = perfetto_sequence(track);
	s->host = view_get_process(v, s->track)->host;
	s->has_begun = false;
	s->last_ns = 0;
	perfetto_interned_begin(&s->names, s->id);
	perfetto_interned_begin(&s->keys, s->id);
	perfetto_interned_begin(&s->counters, s->id);
	if (perfetto_interned_resize(&s->keys, s->track->plane->stat_names.n_texts))
		return perfetto_fail_memory(s->w);
	return perfetto_rows_begin(&s->rows, s->w, s->track);
}

int perfetto_put_events(struct perfetto *w)
{
	struct perfetto_sequence s = {.w = w};
	int rc = 0;

	if (perfetto_interned_resize(&s.names, w->view->names.n_texts) ||
		perfetto_interned_resize(&s.counters, w->view->names.n_texts))
		rc = perfetto_fail_memory(w);
	for (size_t i = 0; i < w->view->n_tracks && rc == 0; i++) {
		rc = switch_to(&s, i);
		if (rc == 0)
			rc = put_items(&s);
	}
	free(s.names.v);
	free(s.keys.v);
	free(s.counters.v);
	free(s.ends.heap);
	perfetto_rows_deinit(&s.rows);
	return rc;
}
