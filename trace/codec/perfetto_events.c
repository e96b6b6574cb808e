/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events; see perfetto_events.h. A span is two packets, where it begins and where it ends, and the packets of a sequence are in the
 * order of time, so that a time is the difference from the one before. Names and keys are numbers, told where they are first used.
 */
#include "trace/codec/perfetto_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_args.h"
#include "trace/codec/perfetto_ends.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_interned.h"
#include "trace/codec/perfetto_rows.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define FEW_BYTES 256 /* a packet without texts */
#define STEP "step"
#define STEP_IID 1

struct sequence {
	struct perfetto *w;
	const struct view_track *track;
	uint32_t id;
	uint32_t host;
	bool has_begun;
	uint64_t last_ns; /* of the last packet, on the file's clock */
	uint64_t n_spans; /* that began */
	struct perfetto_interned names;
	struct perfetto_interned keys;
	struct perfetto_interned counters; /* their tracks */
	struct perfetto_rows rows;
	struct perfetto_ends ends;
};

/* --- packets ------------------------------------------------------------------------------- */

/* Its defaults, and the clock that begins at 0 and goes from packet to packet. */
static int begin_sequence(struct sequence *s)
{
	uint8_t *packet = perfetto_reserve(s->w, FEW_BYTES);
	uint8_t *message;
	uint8_t *inner;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = pb_put_uint(packet, PACKET_SEQUENCE_ID, s->id);
	at = perfetto_put_machine(s->w, at, s->host);
	at = pb_put_uint(at, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	at = pb_put_uint(at, PACKET_FIRST_ON_SEQUENCE, 1);
	message = packet_open(at, PACKET_DEFAULTS);
	inner = packet_open(message, DEFAULTS_TRACK_EVENT);
	at = pb_put_uint(inner, EVENT_DEFAULTS_TRACK, perfetto_track_uuid(s->w->view, s->track));
	at = pb_put_uint(packet_close(inner, at), DEFAULTS_CLOCK_ID, CLOCK_DIFFERENCE_ID);
	at = packet_close(message, at);
	message = packet_open(at, PACKET_CLOCK_SNAPSHOT);
	at = perfetto_put_clock(message, CLOCK_DIFFERENCE_ID, 0, true);
	at = perfetto_put_clock(at, CLOCK_TRACE_ID, 0, false);
	s->has_begun = true;
	return perfetto_put(s->w, packet, packet_close(message, at));
}

/* What every event's packet begins with. */
static uint8_t *put_head(struct sequence *s, uint8_t *at, int64_t view_ns)
{
	uint64_t ns = perfetto_time(s->w, view_ns);

	at = pb_put_wide_uint(at, PACKET_TIMESTAMP, ns - s->last_ns);
	at = pb_put_uint(at, PACKET_SEQUENCE_ID, s->id);
	s->last_ns = ns;
	return perfetto_put_machine(s->w, at, s->host);
}

/* The names that the item needs and the sequence does not know. A sample has none: its track has it. */
static uint8_t *put_interned(struct sequence *s, uint8_t *at, const struct item *item)
{
	bool is_named = item->kind != ITEM_SAMPLE;
	bool is_new = is_named && !perfetto_interned_find(&s->names, item->name);
	uint8_t *message;

	if (!is_new && !item->n_args)
		return at;
	message = packet_open(at, PACKET_INTERNED_DATA);
	at = message;
	if (is_new) {
		if (s->names.n == 0)
			at = packet_interned(at, INTERNED_CATEGORIES, STEP_IID, STEP);
		perfetto_interned_set(&s->names, item->name, ++s->names.n);
		at = packet_interned(at, INTERNED_EVENT_NAMES, s->names.n,
			names_get(&s->w->view->names, item->name));
	}
	at = perfetto_args_intern(at, item->args, item->n_args, &s->keys);
	return packet_close(message, at);
}

/* --- spans and instants -------------------------------------------------------------------- */

static size_t measure(const struct sequence *s, const struct item *item)
{
	size_t n = FEW_BYTES + perfetto_args_measure(item->args, item->n_args);

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

static uint8_t *put_facts(struct sequence *s, uint8_t *at, const struct item *item)
{
	at = pb_put_uint(at, EVENT_NAME_IID, perfetto_interned_find(&s->names, item->name));
	if (item->is_step)
		at = pb_put_uint(at, EVENT_CATEGORY_IIDS, STEP_IID);
	at = put_flows(at, item);
	return perfetto_args_put(at, item->args, item->n_args, &s->keys);
}

/* The begin of a span in that row, or an instant, in row 0. */
static int put_item(struct sequence *s, const struct item *item, uint64_t type, uint32_t row)
{
	uint8_t *packet = perfetto_reserve(s->w, measure(s, item));
	uint8_t *event;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = put_head(s, packet, item->start_ns);
	at = put_interned(s, at, item);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, type);
	if (row)
		at = pb_put_uint(at, EVENT_TRACK, s->rows.v[row].uuid);
	at = put_facts(s, at, item);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

static int put_end(struct sequence *s, const struct perfetto_end *end)
{
	uint8_t *packet = perfetto_reserve(s->w, FEW_BYTES);
	uint8_t *event;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = put_head(s, packet, end->end_ns);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, TYPE_END);
	if (end->row)
		at = pb_put_uint(at, EVENT_TRACK, s->rows.v[end->row].uuid);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

static struct perfetto_end take_end(struct sequence *s)
{
	struct perfetto_end end = perfetto_ends_take(&s->ends);
	struct perfetto_row *row = &s->rows.v[end.row];

	row->depth--;
	row->n_finished -= !end.is_unfinished;
	return end;
}

/* Whatever has ended at that time. */
static int put_ends(struct sequence *s, int64_t at_ns)
{
	int rc = 0;

	while (rc == 0 && perfetto_ends_has(&s->ends, at_ns)) {
		struct perfetto_end end = take_end(s);

		rc = put_end(s, &end);
	}
	return rc;
}

/* At the track's end: what is unfinished stays open, unless that would keep a finished one around it open. */
static int put_last_ends(struct sequence *s)
{
	int rc = 0;

	while (rc == 0 && s->ends.n) {
		struct perfetto_end end = take_end(s);

		if (!end.is_unfinished || s->rows.v[end.row].n_finished)
			rc = put_end(s, &end);
	}
	return rc;
}

static int put_span(struct sequence *s, const struct item *item)
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

/* --- samples ------------------------------------------------------------------------------- */

/* The track of the counter, or a negative errno. */
static int64_t find_counter(struct sequence *s, const struct item *item)
{
	int64_t uuid = (int64_t)perfetto_interned_find(&s->counters, item->name);

	if (uuid)
		return uuid;
	uuid = perfetto_put_counter(s->w, s->track, names_get(&s->w->view->names, item->name));
	if (uuid > 0)
		perfetto_interned_set(&s->counters, item->name, (uint64_t)uuid);
	return uuid;
}

static uint8_t *put_value(uint8_t *at, const struct item_arg *value)
{
	double number;

	if (value->type == STAT_INT64 ||
		(value->type == STAT_UINT64 && value->value.u64 <= INT64_MAX))
		return pb_put_uint(at, EVENT_COUNTER_VALUE, value->value.u64);
	item_arg_to_double(value, &number);
	return packet_double(at, EVENT_DOUBLE_COUNTER_VALUE, number);
}

static int put_sample(struct sequence *s, const struct item *item)
{
	int64_t counter = find_counter(s, item);
	struct item rest = *item;
	uint8_t *packet;
	uint8_t *event;
	uint8_t *at;

	if (counter < 0)
		return (int)counter;
	rest.args++;
	rest.n_args--;
	packet = perfetto_reserve(s->w, FEW_BYTES + perfetto_args_measure(rest.args, rest.n_args));
	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = put_head(s, packet, item->start_ns);
	at = put_interned(s, at, &rest);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, TYPE_COUNTER);
	at = pb_put_uint(at, EVENT_TRACK, (uint64_t)counter);
	at = put_value(at, &item->args[0]);
	at = perfetto_args_put(at, rest.args, rest.n_args, &s->keys);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

/* A counter's track has numbers only. */
static bool is_number(const struct item *item)
{
	double number;

	return item->n_args && item_arg_to_double(&item->args[0], &number);
}

/* --- tracks -------------------------------------------------------------------------------- */

static int put_any(struct sequence *s, const struct item *item)
{
	int rc = s->has_begun ? put_ends(s, item->start_ns) : begin_sequence(s);

	if (rc)
		return rc;
	if (item->kind == ITEM_SAMPLE && !is_number(item)) {
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
	return put_sample(s, item);
}

static int fail_read(const struct sequence *s, int rc)
{
	const struct view *v = s->w->view;
	const struct view_host *host = &v->hosts[view_get_origin(v, s->track)->host];
	struct diag *d = s->w->diag;

	return d && d->text[0]
		       ? rc
		       : diag_set(d, rc, "%.300s: %s", host->archive->path, errno_words(rc));
}

static int put_items(struct sequence *s)
{
	struct cursor c;
	struct item item;
	int rc = cursor_open(&c, s->w->view, s->track, s->w->diag);

	while (rc >= 0 && (rc = cursor_next(&c, &item)) > 0)
		rc = put_any(s, &item);
	cursor_close(&c);
	return rc < 0 ? fail_read(s, rc) : put_last_ends(s);
}

static int switch_to(struct sequence *s, size_t track)
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
	struct sequence s = {.w = w};
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
